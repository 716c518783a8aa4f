/* The C interface of a matching protocol as a shared library, after Spark-PSI (Badrinarayanan et al., section 4.3).
 *
 * Both parties call every round in order; round `id` takes what the peer's round `id - 1` returned, and what the last round
 * returns is empty. Setup serves any number of pairs of sets, one after the other. A function that returns int returns 0 on
 * success. Bytes that a function gives out stay valid until the next call with the same party. Numbers are little-endian.
 */
#ifndef TACIT_PSI_H
#define TACIT_PSI_H

#include <stddef.h>
#include <stdint.h>

typedef struct tacit_psi_party tacit_psi_party;

enum { TACIT_PSI_SENDER = 0, TACIT_PSI_RECEIVER = 1 };

/* Upper bounds: rounds, bytes of the sender, bytes of the receiver, of setup and then of a pair of sets. */
int tacit_psi_declared(uint64_t sender_items, uint64_t receiver_items, uint64_t figures[6]);

tacit_psi_party *tacit_psi_new(int role);
void tacit_psi_free(tacit_psi_party *party);

uint32_t tacit_psi_setup_round_count(tacit_psi_party *party);
int tacit_psi_setup(tacit_psi_party *party, uint32_t id, const uint8_t *in, size_t in_length, const uint8_t **out,
                    size_t *out_length);

/* This party's items, 16 bytes each, and both sizes. */
int tacit_psi_begin(tacit_psi_party *party, const uint8_t *items, uint64_t sender_items, uint64_t receiver_items);

uint32_t tacit_psi_online_round_count(tacit_psi_party *party);
int tacit_psi_round(tacit_psi_party *party, uint32_t id, const uint8_t *in, size_t in_length, const uint8_t **out,
                    size_t *out_length);

/* Numbers of 32 bits. At the sender: a fresh random order of its items. At the receiver: for every match the number of its own
 * item and the position in the sender's order. */
int tacit_psi_outcome(tacit_psi_party *party, const uint8_t **out, size_t *out_length);

#endif
