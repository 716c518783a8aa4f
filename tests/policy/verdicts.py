"""Questions to the federation of owners.py: what is refused, allowed, and what attacks it."""

from __future__ import annotations

JOINED = "customers c JOIN people p ON c.ssn = p.ssn"
NORTH = ("north",)
ABSENT = "a join that is not an inner one tells which units of people are missing, and nothing counts them"

REFUSED = [
    # query, recipients, rule, place, sentence, change
    (
        "SELECT email AS total FROM people ORDER BY salary DESC LIMIT 1", "north", "closed", 8,
        "people.email is closed", "ask for COUNT(*)",
    ),
    ("SELECT seat, email FROM people", "north", "closed", 14, "people.email is closed", "leave out email"),
    (
        "SELECT salary FROM people", "north", "select", 8,
        "people.salary would be seen row by row; it may be aggregated", "write AVG(salary)",
    ),
    (
        "SELECT seat FROM people WHERE vip", "north", "select", 31,
        "which rows are shown tells people.vip of each", "leave out WHERE vip",
    ),
    (
        "SELECT seat FROM people ORDER BY salary", "north", "select", 34,
        "the order tells people.salary's ranks", "order by seat",
    ),
    (
        f"SELECT c.ssn FROM {JOINED}", "north", "matches", 48,
        "each row tells that this unit is in people", "ask for COUNT(*)",
    ),
    (
        "SELECT MAX(salary) FROM people", "north", "function", 12,
        "MAX gives one value of people.salary; count, sum, avg are allowed", "write AVG(salary)",
    ),
    (
        "SELECT SUM(salary*salary) FROM people", "north", "linear", 12,
        "more than a multiple of people.salary is added up", "write SUM(salary)",
    ),
    (
        "SELECT seat, ROW_NUMBER() OVER (ORDER BY seat) AS n FROM people", "north", "window", 14,
        "ROW_NUMBER OVER tells of other rows of people than it stands beside, which nothing counts",
        "ask south for people, rule window",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY ssn ORDER BY clinic) AS n FROM visits) v "
        "WHERE n = 1", "north", "window", 30,
        "ROW_NUMBER OVER takes rows of visits that are equal in its order in any order, as RANK does not",
        "ask west for visits, rule window",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY v.ssn ORDER BY c.weight) AS n "
        "FROM customers c JOIN visits v ON v.ssn = c.ssn) x WHERE n = 1", "north", "window", 30,
        "RANK OVER is computed of visits and of others' rows or conditions, which nothing counts",
        "ask west for visits, rule window",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE vip OR ssn NOT IN (SELECT ssn FROM customers)", "north", "floor", 35,
        "a condition tells which units of people others match, and something else beside",
        "leave out WHERE vip OR NOT ssn IN (SELECT ssn FROM customers)",
    ),
    (
        "SELECT COUNT(*) FROM people p LEFT JOIN copies k ON k.ssn = p.ssn", "north", "repeats", 8,
        "copies may count a row of people several times", "write COUNT(DISTINCT p.ssn)",
    ),
    (
        "SELECT SUM(c.weight) FROM people p LEFT JOIN customers c ON c.ssn = p.ssn", "north", "weights", 8,
        "values that north knows, customers.weight, are added over rows that people decides", "write COUNT(*)",
    ),
    (
        "SELECT COUNT(*) FROM people p LEFT JOIN visits v ON v.ssn = p.ssn", "north", "floor", 41,
        ABSENT.replace("people", "visits"), "write JOIN instead of LEFT JOIN",
    ),
    (
        f"SELECT c.segment, COUNT(DISTINCT p.ssn) FROM {JOINED} GROUP BY ROLLUP (c.segment)", "north",
        "differences", None,
        "people is aggregated 2 times over rows that customers decides, which may differ by few units",
        "write GROUP BY c.segment",
    ),
    (
        "SELECT SUM(n) FROM (SELECT ssn, ROW_NUMBER() OVER (ORDER BY id) AS n FROM customers) c "
        "JOIN people p ON c.ssn = p.ssn", "north", "weights", 8,
        "values that north knows, customers.*, are added over rows that people decides", "write COUNT(*)",
    ),
    (
        f"SELECT SUM(c.weight) FROM {JOINED}", "north", "weights", 8,
        "values that north knows, customers.weight, are added over rows that people decides", "write COUNT(*)",
    ),
    (
        "SELECT COUNT(*) FROM copies k JOIN people p ON k.ssn = p.ssn", "north", "repeats", 8,
        "copies may count a row of people several times", "write COUNT(DISTINCT p.ssn)",
    ),
    (
        f"SELECT c.ssn, c.segment, COUNT(*) FROM {JOINED} GROUP BY c.ssn, c.segment", "north", "floor", 69,
        "each group is one unit of people; groups need 10", "leave out GROUP BY c.ssn",
    ),
    (
        "SELECT city FROM people GROUP BY city HAVING COUNT(*) = 1", "north", "floor", 46,
        "no group of 10 or more fulfils the condition", "write COUNT(*) >= 10",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE age = 37", "north", "cuts", 35,
        "people.age may be cut at 18, 30, 45, 65, and tested in no other way", "write age >= 30 AND age < 45",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE ssn = 1", "north", "filter", 35,
        "people.ssn is a key of joins; conditions on it are closed", "leave out WHERE ssn = 1",
    ),
    ("SELECT COUNT(*) FROM people", "north,west", "recipient", None, "west is no recipient of people", "--to north"),
    (
        "SELECT COUNT(*) FROM people WHERE since = '2023-03-15'", "north", "cuts", 35,
        "people.since may be cut at months, and tested in no other way",
        "write since >= CAST('2023-03-01' AS DATE) AND since < CAST('2023-04-01' AS DATE)",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE rate > 1.75", "north", "cuts", 35,
        "people.rate may be cut at 1.50, 3.00, and tested in no other way", "write rate >= 1.50",
    ),
    (
        "SELECT COUNT(*) FROM people WHERE vip AND grade = 'C'", "north", "constants", 43,
        "people.grade may be equal to 'A', 'B', and tested in no other way", "leave out grade = 'C'",
    ),
    (
        f"SELECT COUNT(*) FROM {JOINED} WHERE p.points > c.revenue", "north", "with", 71,
        "people.points would meet customers.revenue; it may be compared with constants only",
        "leave out WHERE p.points > c.revenue",
    ),
    (
        "SELECT salary, COUNT(*) FROM people GROUP BY salary", "north", "group", 46,
        "people.salary would make groups; it may be aggregated", "leave out GROUP BY salary",
    ),
    (
        "SELECT COUNT(*) FROM customers c JOIN people p ON c.id = p.salary", "north", "join", 51,
        "people.salary would be a key of joins; it may be aggregated", "ask south for people.salary, rule join",
    ),
    (
        "SELECT 1 AS one FROM visits", "north", "select", None,
        "each row tells of one of visits, of which no column is seen row by row", "ask for COUNT(*)",
    ),
    (
        "SELECT floor FROM rooms", "south", "select", 8,
        "rooms.floor would be seen row by row; not all who ask may see it", "ask for COUNT(*)",
    ),
    (
        "SELECT COUNT(*) FROM customers c LEFT JOIN people p ON c.ssn = p.ssn", "north", "floor", 44,
        ABSENT, "write JOIN instead of LEFT JOIN",
    ),
    (
        "SELECT COUNT(*) FROM customers c ANTI JOIN people p ON c.ssn = p.ssn", "north", "floor", 44,
        ABSENT, "ask south for people, rule floor",
    ),
    (
        "SELECT COUNT(*) FROM customers c, people p WHERE c.revenue > 5", "north", "floor", 35,
        ABSENT, "ask south for people, rule floor",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT a.ssn AS k FROM customers a, copies b) c JOIN people p ON c.k = p.ssn", "north",
        "repeats", 8, "copies may count a row of people several times", "write COUNT(DISTINCT p.ssn)",
    ),
    (
        "SELECT COUNT(*) FROM (SELECT a.ssn AS k FROM customers a LEFT JOIN copies b ON a.ssn = b.ssn) c "
        "JOIN people p ON c.k = p.ssn", "north",
        "repeats", 8, "copies may count a row of people several times", "write COUNT(DISTINCT p.ssn)",
    ),
]  # fmt: skip


ALLOWED = [
    "SELECT city, SUM(COUNT(*)) OVER () AS n FROM people GROUP BY city",
    "SELECT city, RANK() OVER (ORDER BY SUM(points) DESC) AS place FROM people GROUP BY city",
    "SELECT COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY ssn ORDER BY clinic) AS n FROM visits) v WHERE n = 1",
    "SELECT c.segment, COUNT(*) FROM people p LEFT JOIN customers c ON c.ssn = p.ssn GROUP BY c.segment",
    "SELECT city, COUNT(c.ssn), COUNT(*) FROM people p LEFT JOIN customers c ON c.ssn = p.ssn GROUP BY city",
    "SELECT AVG(points) FROM people WHERE ssn NOT IN (SELECT ssn FROM customers)",
    "SELECT COUNT(*) FROM people p WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE c.ssn = p.ssn) AND vip",
    "SELECT SUM(CASE WHEN p.ssn IN (SELECT ssn FROM customers) THEN p.points END), COUNT(*) FROM people p",
    "SELECT COUNT(DISTINCT p.ssn) FROM people p LEFT JOIN copies k ON k.ssn = p.ssn",
    "SELECT COUNT(*) FROM (SELECT a.* FROM customers a ANTI JOIN copies b ON a.ssn = b.ssn) c "
    "JOIN people p ON c.ssn = p.ssn",
    "SELECT COUNT(*), SUM(b.copy) FROM customers a LEFT JOIN copies b ON a.ssn = b.ssn",
    "SELECT COUNT(*) FROM customers c SEMI JOIN people p ON c.ssn = p.ssn",
    "SELECT id, RANK() OVER (ORDER BY revenue) AS place FROM customers",
    "SELECT COUNT(*) FROM (SELECT ssn, ROW_NUMBER() OVER (PARTITION BY segment ORDER BY id) AS n FROM customers) c "
    "JOIN people p ON c.ssn = p.ssn WHERE n = 1",
    "SELECT COUNT(*) FROM people",
    f"SELECT COUNT(*) FROM {JOINED}",
    f"SELECT COUNT(DISTINCT c.ssn) FROM {JOINED}",
    f"SELECT c.segment, AVG(p.salary) AS pay, COUNT(*) AS n FROM {JOINED} GROUP BY c.segment ORDER BY n DESC LIMIT 3",
    f"SELECT SUM(c.revenue) FROM {JOINED}",
    "SELECT city, COUNT(*) FROM people GROUP BY city HAVING COUNT(*) >= 50 AND COUNT(*) < 1000",
    "SELECT COUNT(*) FROM people WHERE age >= 30 AND NOT age > 44 AND since < '2023-03-01' AND rate < 3",
    "SELECT COUNT(*) FROM people WHERE age <= 29 OR age >= 121 OR CAST(age AS BIGINT) >= 65",
    "SELECT COUNT(*) FROM people WHERE grade IN ('A', 'B') OR grade <> 'A'",
    "SELECT MAX(bonus) AS most, COUNT(bonus) AS given FROM people",
    "SELECT SUM(CASE WHEN vip THEN salary ELSE 0 END) AS vips, COUNT(*) AS n FROM people",
    "SELECT seat FROM people ORDER BY seat LIMIT 3",
    "SELECT seat, COUNT(*) FROM people GROUP BY seat",
    f"SELECT COUNT(*) FROM {JOINED} WHERE p.score > c.revenue",
    "SELECT COUNT(*) FROM people WHERE points > (SELECT AVG(points) FROM people)",
    "SELECT AVG(n) AS visits FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) v",
    "SELECT COUNT(*) FROM (SELECT DISTINCT p.ssn FROM copies k JOIN people p ON k.ssn = p.ssn) x",
    "SELECT COUNT(*) FROM customers WHERE ssn IN (SELECT ssn FROM visits WHERE clinic = 'hill')",
    "SELECT c.id FROM customers c JOIN members m ON m.ssn = c.ssn",
    "SELECT room FROM rooms",
    "SELECT revenue FROM customers WHERE weight > 5",
]


ATTACKS = [
    # what is told, by name of the attack, and the rules of which one refuses
    (f"SELECT c.id, COUNT(*) FROM {JOINED} GROUP BY c.id", {"floor"}),  # a membership table
    (f"SELECT c.weight, SUM(c.weight) FROM {JOINED} GROUP BY c.weight", {"weights"}),
    (f"SELECT AVG(c.weight) FROM {JOINED}", {"weights"}),
    (f"SELECT MIN(c.id) FROM {JOINED}", {"weights"}),
    (f"SELECT COUNT(DISTINCT c.weight) FROM {JOINED}", {"weights"}),
    (f"SELECT SUM(p.points + c.weight) FROM {JOINED}", {"weights"}),
    (f"SELECT SUM(p.points * c.weight) FROM {JOINED}", {"weights", "linear"}),
    (f"SELECT SUM(CASE WHEN p.vip THEN c.weight ELSE 0 END) FROM {JOINED}", {"weights"}),
    (f"SELECT segment FROM (SELECT c.segment, SUM(c.weight) AS w FROM {JOINED} GROUP BY c.segment) x WHERE w > 9",
     {"weights"}),
    ("SELECT SUM(k.n) FROM (SELECT ssn, COUNT(*) AS n FROM copies GROUP BY ssn) k JOIN people p ON k.ssn = p.ssn",
     {"weights"}),
    (f"SELECT SUM(n) FROM (SELECT p.ssn, SUM(c.weight) AS n FROM {JOINED} GROUP BY p.ssn) x", {"weights"}),
    ("SELECT SUM(n) FROM (SELECT p.ssn, COUNT(*) AS n FROM copies k JOIN people p ON k.ssn = p.ssn GROUP BY p.ssn) x",
     {"repeats"}),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT p.ssn, k.copy FROM copies k JOIN people p ON k.ssn = p.ssn) x",
     {"repeats"}),
    ("SELECT AVG(p.salary) FROM copies k JOIN people p ON k.ssn = p.ssn", {"repeats"}),
    ("SELECT SUM(n * n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", {"linear"}),
    ("SELECT SUM(x) FROM (SELECT points AS x FROM people UNION ALL SELECT -points FROM people WHERE vip) q",
     {"repeats"}),
    ("SELECT city, SUM(x) FROM (SELECT city, 1 AS x FROM people UNION ALL SELECT city, -1 FROM people) q GROUP BY city",
     {"repeats"}),
    ("SELECT MAX(n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", {"function"}),
    ("SELECT COUNT(DISTINCT n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", {"function"}),
    ("SELECT MEDIAN(n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", {"function"}),
    ("SELECT SUM(n) FROM (SELECT ssn, COUNT(*) AS n FROM visits GROUP BY ssn) x", set()),
    ("SELECT SUM(k.n) FROM (SELECT ssn, SUM(1) AS n FROM copies GROUP BY ssn) k JOIN people p ON k.ssn = p.ssn",
     {"weights"}),
    ("SELECT SUM(k.n) FROM (SELECT ssn, MAX(CASE WHEN copy = 1 THEN 1 WHEN copy = 2 THEN 2 ELSE 4 END) AS n FROM copies"
     " GROUP BY ssn) k JOIN people p ON k.ssn = p.ssn", {"weights"}),
    ("SELECT SUM(k.w) FROM (SELECT DISTINCT ssn, CASE WHEN id = 1 THEN 1 ELSE 2 END AS w FROM customers) k"
     " JOIN people p ON k.ssn = p.ssn", {"weights"}),
    ("SELECT SUM(k.w) FROM (SELECT ssn, MAX(w) AS w FROM (SELECT ssn, 1 AS w FROM copies WHERE copy = 0 UNION ALL"
     " SELECT ssn, 2 FROM copies WHERE copy = 1) u GROUP BY ssn) k JOIN people p ON k.ssn = p.ssn", {"weights"}),
    ("SELECT MAX(n) FROM (SELECT ssn, SUM(1) AS n FROM visits GROUP BY ssn) x", {"function"}),
    ("SELECT MAX(n) FROM (SELECT ssn, SUM(CASE WHEN clinic = 'hill' THEN 1 ELSE 0 END) AS n FROM visits GROUP BY ssn)",
     {"function"}),
    ("SELECT SUM(seat * seat) FROM people WHERE vip", {"linear"}),
    ("SELECT MAX(seat) FROM people WHERE vip", {"function"}),
    ("SELECT SUM(seat) FROM people WHERE vip", {"weights"}),
    ("SELECT AVG(seat) FROM people WHERE vip", {"weights"}),
    ("SELECT SUM(seat) FROM people", set()),
    ("SELECT MAX(seat) FROM people", set()),
    ("SELECT vip, COUNT(*) FROM people GROUP BY vip", set()),
    ("SELECT t, COUNT(*) AS n FROM (SELECT ssn, COUNT(DISTINCT clinic) AS t FROM visits GROUP BY ssn) q GROUP BY t",
     {"function"}),
    ("SELECT COUNT(*) FROM (SELECT ssn, MIN(points) AS t FROM people GROUP BY ssn) q WHERE t > 3", {"function"}),
    ("SELECT COUNT(*) FROM (SELECT ssn, SUM(points) AS t FROM people GROUP BY ssn) q WHERE t > 3", set()),
    ("SELECT MAX(t) FROM (SELECT ssn, SUM(seat) AS t FROM people WHERE vip GROUP BY ssn) q", {"function"}),
    ("SELECT AVG(t) FROM (SELECT c.ssn, COUNT(*) AS t FROM customers c JOIN visits v ON v.ssn = c.ssn GROUP BY c.ssn)",
     set()),
    ("SELECT SUM(points * points) FROM people", {"linear"}),
    ("SELECT SUM(points * CASE WHEN vip THEN 2 ELSE 3 END) FROM people", {"linear"}),
    ("SELECT SUM(t * t) FROM (SELECT ssn, SUM(cost) AS t FROM visits GROUP BY ssn) x", {"linear"}),
    ("SELECT COUNT(*) FROM people WHERE age < 31", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age > 30", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age <= 30", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age + 1 >= 31", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age IN (18)", {"cuts"}),
    ("SELECT SUM(CASE WHEN age >= 44 THEN 1 ELSE 0 END) FROM people", {"cuts"}),
    ("SELECT age >= 44 AS old, COUNT(*) FROM people GROUP BY old", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE age > (SELECT MAX(copy) FROM copies)", {"cuts"}),
    ("SELECT COUNT(*) FROM people WHERE grade >= 'A'", {"constants"}),
    ("SELECT COUNT(*) FROM people WHERE COALESCE(grade, 'C') = 'A'", set()),  # of what is never NULL
    (f"SELECT COUNT(*) FROM {JOINED} WHERE p.points - c.revenue > 0", {"with"}),
    (f"SELECT SUM(CASE WHEN p.points = c.revenue THEN 1 ELSE 0 END) FROM {JOINED}", {"with"}),
    ("SELECT COUNT(*) FROM customers c JOIN people p ON c.id = p.ssn", {"with"}),
    ("SELECT COUNT(*) FROM people WHERE ssn IS NOT NULL", {"filter"}),
    ("SELECT COUNT(*) FROM (SELECT ssn FROM visits GROUP BY ssn HAVING SUM(cost) > 5) x", {"filter"}),
    ("SELECT COUNT(*) FROM people WHERE salary > (SELECT AVG(salary) FROM people)", {"filter"}),
    ("SELECT COUNT(ssn) FROM people", {"function"}),
    ("SELECT COUNT(vip) FROM people", {"function"}),
    ("SELECT city FROM (SELECT city, COUNT(*) AS n FROM people GROUP BY city) x WHERE n + 0 < 3", {"floor"}),
    ("SELECT city FROM people GROUP BY city HAVING NOT COUNT(*) > 1", {"floor"}),
    ("SELECT city FROM people GROUP BY city HAVING COUNT(DISTINCT ssn) IN (1, 2)", {"floor"}),
    ("SELECT AVG(points) FROM (SELECT points FROM people ORDER BY salary DESC LIMIT 20) x", {"select"}),
    ("SELECT t FROM (SELECT ssn, SUM(cost) AS t FROM visits GROUP BY ssn) x", {"floor"}),
    ("SELECT seat, COUNT(*) FROM people WHERE vip GROUP BY seat", {"floor", "select"}),
    ("SELECT floor FROM rooms", set()),
    ("SELECT COUNT(*) FROM copies k JOIN visits v ON k.ssn = v.ssn", {"floor"}),
    ("SELECT SUM(a.cost) FROM visits a JOIN visits b ON a.ssn = b.ssn", {"floor"}),
    ("SELECT k.copy FROM copies k LEFT JOIN visits v ON k.ssn = v.ssn", {"matches", "floor"}),
    ("SELECT COUNT(*) FROM copies k FULL JOIN visits v ON k.ssn = v.ssn", {"floor", "repeats"}),
    ("SELECT a.copy FROM copies a JOIN copies b ON a.ssn = b.ssn", set()),
    ("SELECT SUM(v.w) FROM people p JOIN (VALUES (1, 1), (2, 2)) v(ssn, w) ON p.ssn = v.ssn", {"weights"}),
    ("SELECT COUNT(*) FROM people UNION ALL SELECT 1", {"weights"}),
    ("SELECT SUM(v.w) FROM customers c JOIN (VALUES (1, 1), (2, 2)) v(ssn, w) ON c.ssn = v.ssn", set()),
    ("SELECT DISTINCT ON (city) points FROM people ORDER BY points", {"select"}),
    ("SELECT city FROM people EXCEPT ALL SELECT segment FROM customers", {"window", "floor"}),
]  # fmt: skip
