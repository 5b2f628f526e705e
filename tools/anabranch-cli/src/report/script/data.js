// The timeline of a trace. Reads what `data.rs` has written, and draws it on a canvas.
//
// A row is a list of pieces of time that do not overlap, in order. So the piece at a time is found by a binary search.
// A column of pixels with several pieces shows their shares. Sums at every 32nd piece give the shares in constant time.
// So a picture takes time proportional to its pixels, however many pieces there are.
//
// The parts of the script are one function: data.js, text.js, draw.js, use.js. Each uses those before it.

const element = (id) => document.getElementById(id);
performance.mark("report-begin");

// ---- The data ----

const description = JSON.parse(element("description").textContent);
const wall = Math.max(description.wall, 1);
const STRIDE = 32;
const HUES = 8;
const MARK = 6;
const [STEAL, PUBLISH, RAID, WAKE, SPAWN, UNPARK] = [0, 1, 2, 3, 4, 5];
const LOOT = ["a fork", "a task", "fibers", "a descendant"];
const MOMENT_NAMES = ["steal", "publication", "raid", "wake of a fiber", "spawn", "wake of a thread", "mark",
    "found blocked", "found running again"];

function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
}

// Returns a function that reads the next number.
function reader(bytes) {
    let at = 0;
    return () => {
        let byte = bytes[at++];
        if (byte < 128) return byte;
        let value = byte & 127;
        let factor = 128;
        do {
            byte = bytes[at++];
            value += (byte & 127) * factor;
            factor *= 128;
        } while (byte >= 128);
        return value;
    };
}

// Reads a row of pieces. `kind` is "states", "fibers" or "spans".
function readPieces(next, lane, kind, n) {
    const row = {
        lane, kind, n,
        begin: new Float64Array(n), end: new Float64Array(n), hue: new Uint8Array(n),
        subject: new Uint32Array(n), detail: new Uint32Array(kind === "states" ? 0 : n),
        sums: new Float64Array((Math.floor(n / STRIDE) + 1) * HUES),
    };
    const { begin, end, hue, subject, detail, sums } = row;
    const sum = new Float64Array(HUES);
    let last = 0;
    for (let i = 0; i < n; i++) {
        if (i % STRIDE === 0) sums.set(sum, i / STRIDE * HUES);
        begin[i] = last + next();
        end[i] = last = begin[i] + next();
        if (kind === "states") {
            hue[i] = next();
            subject[i] = next();
        } else {
            subject[i] = next();
            // Numbers that follow each other get different colours.
            hue[i] = Math.imul(subject[i], 0x9e3779b1) >>> 29;
            detail[i] = next();
        }
        sum[hue[i]] += end[i] - begin[i];
    }
    if (n % STRIDE === 0) sums.set(sum, n / STRIDE * HUES);
    return row;
}

function readMoments(next, lane, n) {
    const row = { lane, kind: "moments", n, begin: new Float64Array(n), hue: new Uint8Array(n), numbers: [] };
    row.end = row.begin;
    row.numbers = [0, 1, 2].map(() => new Uint32Array(n));
    let last = 0;
    for (let i = 0; i < n; i++) {
        row.begin[i] = last += next();
        const kind = row.hue[i] = next();
        const count = kind <= RAID ? 3 : 1;
        for (let k = 0; k < count; k++) row.numbers[k][i] = next();
    }
    return row;
}

// The lines between threads, by kind: steals, wakes of fibers, wakes of threads.
function readLinks(next, n) {
    const all = [0, 1, 2].map(() => ({ from: [], to: [], fromLane: [], toLane: [], number: [] }));
    let last = 0;
    for (let i = 0; i < n; i++) {
        const from = last += next();
        const set = all[next()];
        set.fromLane.push(next());
        set.toLane.push(next());
        set.from.push(from);
        set.to.push(from + next());
        set.number.push(next());
    }
    for (const set of all) {
        set.n = set.from.length;
        set.byEnd = Uint32Array.from(set.to.keys()).sort((a, b) => set.to[a] - set.to[b]);
        set.ends = Float64Array.from(set.byEnd, (index) => set.to[index]);
    }
    return all;
}

const next = reader(bytesOf(element("numbers").textContent));
element("numbers").remove();
const lanes = description.lanes.map((lane, index) => {
    const states = readPieces(next, index, "states", lane.states);
    const fibers = readPieces(next, index, "fibers", lane.fibers);
    const spans = lane.spans.map((n, depth) => ({ ...readPieces(next, index, "spans", n), depth }));
    const moments = readMoments(next, index, lane.moments);
    return { ...lane, index, states, fibers, spans, moments };
});
const links = readLinks(next, description.links);

// The marks of the program on all threads, in order.
const marks = (() => {
    const all = [];
    for (const { moments } of lanes) {
        for (let i = 0; i < moments.n; i++) {
            if (moments.hue[i] === MARK) all.push([moments.begin[i], moments.numbers[0][i]]);
        }
    }
    all.sort((a, b) => a[0] - b[0]);
    return { times: all.map(([time]) => time), names: all.map(([, name]) => name) };
})();
performance.measure("report-decode", "report-begin");

// ---- Searches ----

// Returns the first index from `low` whose value is at least `value`. Fast if it is near.
function lowerBound(values, value, low, high) {
    let step = 1;
    while (low + step < high && values[low + step] < value) {
        low += step;
        step *= 2;
    }
    high = Math.min(high, low + step);
    while (low < high) {
        const middle = (low + high) >> 1;
        if (values[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Calls `solid` with each range of columns that one piece covers, and `mixed` with each other column that has some.
function forColumns(row, from, step, width, solid, mixed) {
    const { begin, end, n } = row;
    let i = lowerBound(end, from, 0, n);
    let x = 0;
    while (x < width && i < n) {
        const at = (begin[i] - from) / step;
        if (at >= width) break;
        if (at >= x + 1) x = Math.floor(at);
        const left = from + x * step;
        const right = left + step;
        if (begin[i] <= left && end[i] >= right) {
            const stop = Math.min(width, Math.max(x + 1, Math.floor((end[i] - from) / step)));
            solid(x, stop, i);
            x = stop;
            if (end[i] <= from + x * step) i++;
            continue;
        }
        const j = lowerBound(begin, right, i + 1, n);
        mixed(x, i, j, left, right);
        i = end[j - 1] > right ? j - 1 : j;
        x++;
    }
}

// Returns how long the pieces from `i` up to `j` take between two times, by colour. The array is reused.
const shared = new Float64Array(HUES);
function shares(row, i, j, left, right) {
    const { begin, end, hue, sums } = row;
    shared.fill(0);
    const add = (k, stop) => {
        for (; k < stop; k++) shared[hue[k]] += end[k] - begin[k];
    };
    const [a, b] = [Math.ceil(i / STRIDE), Math.floor(j / STRIDE)];
    if (a < b) {
        for (let c = 0; c < HUES; c++) shared[c] = sums[b * HUES + c] - sums[a * HUES + c];
        add(i, a * STRIDE);
        add(b * STRIDE, j);
    } else {
        add(i, j);
    }
    if (begin[i] < left) shared[hue[i]] -= Math.min(left, end[i]) - begin[i];
    if (end[j - 1] > right) shared[hue[j - 1]] -= end[j - 1] - right;
    return shared;
}
