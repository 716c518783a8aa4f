/* INSECURE, an example of a plug-in only: the sender shows its items, in sorted order.
 *
 *     cc -shared -fPIC -o insecure_order.so insecure_order.c
 *     tacit psi ... --plugin ./insecure_order.so
 */
#include "tacit_psi.h"

#include <stdlib.h>
#include <string.h>

enum { ITEM = 16 };

struct tacit_psi_party {
    int role;
    uint64_t mine;
    uint8_t *items;   /* this party's, sorted, each with its number behind it */
    uint8_t *message; /* what the sender shows */
    uint8_t *outcome;
    size_t outcome_length;
};

struct entry {
    uint8_t item[ITEM];
    uint32_t number;
};

static int compare(const void *a, const void *b) { return memcmp(a, b, ITEM); }

int tacit_psi_declared(uint64_t sender_items, uint64_t receiver_items, uint64_t figures[6]) {
    (void)receiver_items;
    uint64_t all[6] = {0, 0, 0, 1, ITEM * sender_items, 0};
    memcpy(figures, all, sizeof all);
    return 0;
}

tacit_psi_party *tacit_psi_new(int role) {
    tacit_psi_party *party = calloc(1, sizeof *party);
    if (party) party->role = role;
    return party;
}

static void clear(tacit_psi_party *party) {
    free(party->items);
    free(party->message);
    free(party->outcome);
    party->items = party->message = party->outcome = NULL;
    party->outcome_length = 0;
}

void tacit_psi_free(tacit_psi_party *party) {
    clear(party);
    free(party);
}

uint32_t tacit_psi_setup_round_count(tacit_psi_party *party) {
    (void)party;
    return 0;
}

int tacit_psi_setup(tacit_psi_party *party, uint32_t id, const uint8_t *in, size_t in_length, const uint8_t **out,
                    size_t *out_length) {
    (void)party, (void)id, (void)in, (void)in_length, (void)out, (void)out_length;
    return 1;
}

int tacit_psi_begin(tacit_psi_party *party, const uint8_t *items, uint64_t sender_items, uint64_t receiver_items) {
    clear(party);
    party->mine = party->role == TACIT_PSI_SENDER ? sender_items : receiver_items;
    struct entry *entries = calloc(party->mine + 1, sizeof *entries);
    if (!entries) return 1;
    for (uint64_t i = 0; i < party->mine; i++) {
        memcpy(entries[i].item, items + ITEM * i, ITEM);
        entries[i].number = (uint32_t)i;
    }
    qsort(entries, party->mine, sizeof *entries, compare);
    party->items = (uint8_t *)entries;
    return 0;
}

uint32_t tacit_psi_online_round_count(tacit_psi_party *party) {
    (void)party;
    return 2;
}

static int show(tacit_psi_party *party, const uint8_t **out, size_t *out_length) {
    const struct entry *entries = (const struct entry *)party->items;
    party->message = malloc(ITEM * party->mine + 1);
    uint32_t *order = malloc(sizeof *order * party->mine + 1);
    if (!party->message || !order) return 1;
    for (uint64_t i = 0; i < party->mine; i++) {
        memcpy(party->message + ITEM * i, entries[i].item, ITEM);
        order[i] = entries[i].number;
    }
    party->outcome = (uint8_t *)order;
    party->outcome_length = sizeof *order * party->mine;
    *out = party->message;
    *out_length = ITEM * party->mine;
    return 0;
}

static int find(tacit_psi_party *party, const uint8_t *shown, size_t length) {
    const struct entry *entries = (const struct entry *)party->items;
    uint32_t *pairs = malloc(2 * sizeof *pairs * party->mine + 1);
    size_t found = 0;
    if (!pairs) return 1;
    for (size_t position = 0; position < length / ITEM; position++) {
        const struct entry *entry = bsearch(shown + ITEM * position, entries, party->mine, sizeof *entries, compare);
        if (entry) {
            pairs[found++] = entry->number;
            pairs[found++] = (uint32_t)position;
        }
    }
    party->outcome = (uint8_t *)pairs;
    party->outcome_length = sizeof *pairs * found;
    return 0;
}

int tacit_psi_round(tacit_psi_party *party, uint32_t id, const uint8_t *in, size_t in_length, const uint8_t **out,
                    size_t *out_length) {
    *out = NULL;
    *out_length = 0;
    if (id == 0) return party->role == TACIT_PSI_SENDER ? show(party, out, out_length) : 0;
    return party->role == TACIT_PSI_RECEIVER ? find(party, in, in_length) : 0;
}

int tacit_psi_outcome(tacit_psi_party *party, const uint8_t **out, size_t *out_length) {
    *out = party->outcome;
    *out_length = party->outcome_length;
    return 0;
}
