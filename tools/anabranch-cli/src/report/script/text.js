// What the timeline says about pieces, moments and lines.

// ---- Texts ----

function duration(ns) {
    const three = (value) => value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
    if (ns < 999.5) return `${Math.round(ns)} ns`;
    if (ns < 999.5e3) return `${three(ns / 1e3)} us`;
    if (ns < 999.5e6) return `${three(ns / 1e6)} ms`;
    return `${three(ns / 1e9)} s`;
}

// Formats a point in time so that steps of `step` nanoseconds can be told apart.
function moment(ns, step) {
    const [unit, name] = wall < 1e4 ? [1, "ns"] : wall < 1e7 ? [1e3, "us"] : wall < 1e10 ? [1e6, "ms"] : [1e9, "s"];
    const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit / Math.max(step, 1)))));
    return `${(ns / unit).toFixed(digits)} ${name}`;
}

const site = (number) => number === 0 ? "an unknown place" : description.sites[number - 1]?.[0] ?? "an unknown place";
const place = (number) => description.sites[number - 1]?.[1] ?? "";
const fiberName = (fiber) => {
    const name = description.fiber_names[fiber];
    return name === undefined ? `fiber ${fiber}` : `${site(name)} (fiber ${fiber})`;
};
const plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

// Returns a title, pairs of terms and texts, and a short label, for what is chosen.
function describe({ row, index }) {
    const lane = lanes[row.lane];
    const time = row.begin[index];
    const facts = [["Thread", lane.role ? `${lane.name}, ${lane.role}` : lane.name]];
    let title;
    let where = row.kind === "fibers" || row.kind === "moments" ? 0 : row.subject[index];
    if (row.kind === "moments") {
        const [kind, a, b, c] = [row.hue[index], ...row.numbers.map((numbers) => numbers[index])];
        title = MOMENT_NAMES[kind];
        facts.push(["At", moment(time, 1)]);
        if (kind === STEAL) {
            title = `steal of ${LOOT[c]}`;
            facts.push(["From", a === 0xffffffff ? "the queue of the pool" : `worker ${a}`], ["Pieces", `${b}`]);
        } else if (kind === PUBLISH || kind === RAID) {
            facts.push(["Forks", `${b}`], ["Took", duration(c)]);
            where = a;
        } else if (kind === WAKE) {
            title = `wake of ${fiberName(a)}`;
        } else if (kind === MARK || kind === SPAWN) {
            title = `${title}: ${site(a)}`;
            where = a;
        } else {
            facts.push(["Worker", `${a}`]);
        }
    } else {
        if (row.kind === "states") {
            title = description.states[row.hue[index]];
            if (where) facts.push(["For", site(where)]);
        } else if (row.kind === "spans") {
            title = `${row.detail[index] ? "call: " : ""}${site(where)}`;
        } else {
            title = fiberName(row.subject[index]);
            const detail = row.detail[index];
            facts.push(["Then", detail === 0 ? "nothing that the trace says" : detail === 1 ? "it ends"
                : `it waits: ${site(detail - 2)}`]);
            where = Math.max(detail - 2, 0);
        }
        const length = row.end[index] - time;
        facts.push(["Lasts", `${duration(length)} (${length.toLocaleString("en")} ns)`]);
        facts.push(["From", moment(time, 1)], ["To", moment(row.end[index], 1)]);
    }
    if (place(where)) facts.push(["Where", place(where)]);
    return { title, facts };
}

const summary = (chosen) => {
    const { title, facts } = describe(chosen);
    return `${title}. ${facts.map(([term, text]) => `${term}: ${text}`).join(". ")}`;
};
