// Moving, choosing and pinning, by pointer and keyboard.

// ---- Moving ----

// The shortest part that can be shown, in nanoseconds.
const SHORTEST = Math.min(50, wall);

function show(from, to) {
    const length = Math.min(Math.max(to - from, SHORTEST), wall);
    view.from = Math.min(Math.max(from, 0), wall - length);
    view.to = view.from + length;
    redraw();
}

function zoom(factor, at) {
    const length = Math.min(Math.max((view.to - view.from) / factor, SHORTEST), wall);
    const share = (at - view.from) / (view.to - view.from);
    show(at - share * length, at - share * length + length);
}

// Zooms around what is chosen if it is in view, otherwise around the middle.
function zoomByKey(factor) {
    const middle = (view.from + view.to) / 2;
    const at = chosen ? (chosen.row.begin[chosen.index] + chosen.row.end[chosen.index]) / 2 : middle;
    zoom(factor, at >= view.from && at <= view.to ? at : middle);
}

const pan = (share) => show(view.from + share * (view.to - view.from), view.to + share * (view.to - view.from));

// Shows a piece in the middle, at least a little wide.
function zoomTo({ row, index }) {
    const [begin, end] = [row.begin[index], row.end[index]];
    const margin = Math.max((end - begin) * 0.6, 500);
    show(begin - margin, end + margin);
}

function reveal({ row, index }) {
    const [begin, end] = [row.begin[index], row.end[index]];
    const length = view.to - view.from;
    if (end < view.from || begin > view.to || (end - begin < length && (begin < view.from || end > view.to))) {
        const middle = (begin + end) / 2;
        show(middle - length / 2, middle + length / 2);
    }
    if (row.y < scroller.scrollTop + RULER) scroller.scrollTop = row.y - RULER - 8;
    if (row.y + row.height > scroller.scrollTop + size.height) {
        scroller.scrollTop = row.y + row.height - size.height + 8;
    }
}

function choose(what, say = true) {
    chosen = what;
    if (say) element("chosen").textContent = what ? summary(what) : "Nothing is chosen.";
    if (what) reveal(what);
    redraw();
}

// Returns the piece of a row that is at a time, or the nearest one.
function nearest(row, time) {
    if (row.n === 0) return null;
    const i = Math.min(lowerBound(row.end, time, 0, row.n), row.n - 1);
    if (i === 0 || row.begin[i] <= time) return { row, index: i };
    return { row, index: row.begin[i] - time < time - row.end[i - 1] ? i : i - 1 };
}

// Chooses the row that is some rows below.
function chooseRow(by) {
    const middle = (view.from + view.to) / 2;
    const time = chosen ? Math.min(Math.max(chosen.row.begin[chosen.index], view.from), view.to) : middle;
    let at = chosen ? rows.indexOf(chosen.row) + by : by > 0 ? 0 : rows.length - 1;
    while (at >= 0 && at < rows.length && rows[at].n === 0) at += by;
    if (at >= 0 && at < rows.length) choose(nearest(rows[at], time));
}

function chooseNext(by) {
    if (!chosen) return chooseRow(1);
    const index = chosen.index + by;
    if (index >= 0 && index < chosen.row.n) choose({ row: chosen.row, index });
}

// ---- Details ----

// Returns the runs of the fiber of a piece that are in view, at most `most` for each thread.
function runsOf({ row, index }, most) {
    const fiber = row.subject[index];
    const runs = [];
    for (const { fibers } of lanes) {
        const first = lowerBound(fibers.end, view.from, 0, fibers.n);
        for (let i = first; i < fibers.n && i < first + most && fibers.begin[i] <= view.to; i++) {
            if (fibers.subject[i] === fiber) runs.push({ row: fibers, index: i });
        }
    }
    return runs;
}

// Returns the next run of a fiber from a time on, or the one before it.
function runAt(fiber, time, isLater) {
    let best = null;
    for (const { fibers } of lanes) {
        for (let i = 0; i < fibers.n; i++) {
            if (fibers.subject[i] !== fiber) continue;
            const at = fibers.begin[i];
            const fits = isLater ? at >= time : at < time;
            if (fits && (!best || (isLater ? at < best.at : at > best.at))) best = { row: fibers, index: i, at };
        }
    }
    return best && { row: best.row, index: best.index };
}

// Returns what can be chosen from here: a label and what it leads to.
function related({ row, index }) {
    const time = row.begin[index];
    if (row.kind === "fibers") {
        const fiber = row.subject[index];
        return [["Previous run of this fiber", () => runAt(fiber, time, false)],
            ["Next run of this fiber", () => runAt(fiber, row.end[index], true)]];
    }
    if (row.kind === "moments" && row.hue[index] === WAKE) {
        return [["Where the fiber continues", () => runAt(row.numbers[0][index], time, true)]];
    }
    if (row.kind === "moments" && (row.hue[index] === STEAL || row.hue[index] === UNPARK)) {
        const set = links[row.hue[index] === STEAL ? 0 : 2];
        const of = (lane, other) => {
            let i = lowerBound(set.from, time, 0, set.n);
            for (; i < set.n && set.from[i] === time; i++) {
                if (lane[i] === row.lane) return nearest(lanes[other[i]].states, time);
            }
            return null;
        };
        return row.hue[index] === STEAL
            ? [["What the victim does", () => of(set.toLane, set.fromLane)]]
            : [["What the woken thread does", () => of(set.fromLane, set.toLane)]];
    }
    return [];
}

function pin(what) {
    pinned = what;
    const details = element("details");
    details.hidden = !what;
    if (what) {
        const { title, facts } = describe(what);
        details.querySelector("h3").textContent = title;
        details.querySelector("dl").replaceChildren(...facts.map(([term, text]) => {
            const pair = document.createElement("div");
            pair.append(document.createElement("dt"), document.createElement("dd"));
            pair.firstChild.textContent = term;
            pair.lastChild.textContent = text;
            return pair;
        }));
        details.querySelector(".related").replaceChildren(...related(what).map(([label, target]) => {
            const button = document.createElement("button");
            button.type = "button";
            button.textContent = label;
            button.addEventListener("click", () => {
                const found = target();
                if (found) {
                    choose(found);
                    pin(found);
                } else {
                    button.disabled = true;
                    button.textContent = `${label}: not in this trace`;
                }
            });
            return button;
        }));
    }
    redraw();
}

// ---- The pointer ----

// Returns what is at a position of the picture: a piece, or a text for several of them.
function hit(x, y) {
    const at = y + scroller.scrollTop;
    if (x < size.gutter || y < RULER) return null;
    const row = rows.find((row) => at >= row.y && at < row.y + row.height + 1);
    if (!row || row.n === 0) return null;
    const reach = (view.to - view.from) / (size.width - size.gutter);
    const time = timeOf(x);
    const around = row.kind === "moments" ? 3 * reach : reach / 2;
    const [left, right] = [time - around, time + around];
    const i = lowerBound(row.end, left, 0, row.n);
    const j = lowerBound(row.begin, right, i, row.n);
    if (i >= j) return null;
    if (row.kind === "moments") {
        if (j - i === 1) return { row, index: i };
        const counts = new Map();
        for (let k = i; k < Math.min(j, i + 10000); k++) counts.set(row.hue[k], (counts.get(row.hue[k]) ?? 0) + 1);
        const sorted = [...counts].sort((a, b) => b[1] - a[1]);
        const list = sorted.map(([kind, n]) => `${MOMENT_NAMES[kind]}: ${n.toLocaleString("en")}`);
        return { text: [`${plural(j - i, "moment")} here`, ...list] };
    }
    if (j - i <= 2) {
        const inside = row.begin[j - 1] <= time ? j - 1 : i;
        return { row, index: inside };
    }
    const parts = [...shares(row, i, j, left, right)].map((part, c) => [part, c]).filter(([part]) => part > 0);
    parts.sort((a, b) => b[0] - a[0]);
    const list = row.kind === "states"
        ? parts.map(([part, c]) => `${description.states[c]}: ${(part / (right - left) * 100).toFixed(1)} %`)
        : [`covers ${(parts.reduce((sum, [part]) => sum + part, 0) / (right - left) * 100).toFixed(1)} %`];
    const what = { states: "state", fibers: "fiber run", spans: "span" }[row.kind];
    return { text: [`${plural(j - i, what)} in ${duration(right - left)}`, ...list] };
}

const hover = element("hover");
function showHover(event) {
    const box = overlay.getBoundingClientRect();
    pointer = { x: event.clientX - box.left, y: event.clientY - box.top };
    const found = hit(pointer.x, pointer.y);
    hover.hidden = !found;
    if (found) {
        const { title, facts } = found.text ? { title: found.text[0], facts: found.text.slice(1) } : describe(found);
        const lines = facts.map((fact) => Array.isArray(fact) ? `${fact[0]}: ${fact[1]}` : fact);
        const head = document.createElement("strong");
        head.textContent = title;
        hover.replaceChildren(head, ...lines.map((line) => {
            const div = document.createElement("div");
            div.textContent = line;
            return div;
        }));
        const width = hover.offsetWidth;
        hover.style.left = `${Math.max(4, Math.min(event.clientX + 14, innerWidth - width - 8))}px`;
        const below = event.clientY + 18;
        const height = hover.offsetHeight;
        hover.style.top = `${below + height > innerHeight ? event.clientY - height - 10 : below}px`;
    }
    drawOverlay();
}

let drag = null;
overlay.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, from: view.from, to: view.to, moved: false };
    overlay.setPointerCapture(event.pointerId);
    scroller.focus({ preventScroll: true });
});
overlay.addEventListener("pointermove", (event) => {
    if (drag) {
        const by = event.clientX - drag.x;
        drag.moved ||= Math.abs(by) > 3;
        const shift = by / (size.width - size.gutter) * (drag.to - drag.from);
        if (drag.moved) show(drag.from - shift, drag.to - shift);
    }
    if (drag?.moved) hover.hidden = true;
    else showHover(event);
});
overlay.addEventListener("pointerup", (event) => {
    const isClick = drag && !drag.moved;
    drag = null;
    if (!isClick) return;
    const box = overlay.getBoundingClientRect();
    const found = hit(event.clientX - box.left, event.clientY - box.top);
    if (found?.row) {
        choose(found);
        pin(found);
    } else if (found) {
        // Several pieces: a click comes nearer.
        zoom(8, timeOf(event.clientX - box.left));
    } else {
        pin(null);
        choose(null, false);
    }
});
overlay.addEventListener("pointercancel", () => drag = null);
overlay.addEventListener("pointerleave", () => {
    pointer = null;
    hover.hidden = true;
    drawOverlay();
});
overlay.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        return pan((event.deltaX || event.deltaY) * unit / 800);
    }
    const box = overlay.getBoundingClientRect();
    zoom(2 ** (-event.deltaY * unit / 240), timeOf(Math.max(event.clientX - box.left, size.gutter)));
    hover.hidden = true;
}, { passive: false });

let isOnMap = false;
const toMap = (event) => {
    const box = map.getBoundingClientRect();
    const middle = (event.clientX - box.left) / box.width * wall;
    const length = view.to - view.from;
    show(middle - length / 2, middle + length / 2);
};
map.parentElement.addEventListener("pointerdown", (event) => {
    isOnMap = true;
    map.parentElement.setPointerCapture(event.pointerId);
    toMap(event);
});
map.parentElement.addEventListener("pointermove", (event) => isOnMap && toMap(event));
map.parentElement.addEventListener("pointerup", () => isOnMap = false);
map.parentElement.addEventListener("pointercancel", () => isOnMap = false);

// ---- The keyboard ----

function toggleKeys() {
    const keys = element("keys");
    keys.hidden = !keys.hidden;
    element("help").setAttribute("aria-expanded", String(!keys.hidden));
}

const actions = {
    "+": () => zoomByKey(2), "=": () => zoomByKey(2), "-": () => zoomByKey(0.5), "_": () => zoomByKey(0.5),
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
    ArrowUp: () => chooseRow(-1), ArrowDown: () => chooseRow(1),
    n: () => chooseNext(1), p: () => chooseNext(-1),
    Enter: () => chosen && pin(chosen), " ": () => chosen && pin(chosen), z: () => chosen && zoomTo(chosen),
    "0": () => show(0, wall), Home: () => show(0, view.to - view.from),
    End: () => show(wall - (view.to - view.from), wall),
    Escape: () => {
        pin(null);
        choose(null);
    },
    "?": toggleKeys,
};
scroller.addEventListener("keydown", (event) => {
    const action = actions[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
});

element("zoom-in").addEventListener("click", () => zoomByKey(2));
element("zoom-out").addEventListener("click", () => zoomByKey(0.5));
element("zoom-all").addEventListener("click", () => show(0, wall));
element("help").addEventListener("click", toggleKeys);
element("unpin").addEventListener("click", () => {
    pin(null);
    scroller.focus();
});
element("details").addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    pin(null);
    scroller.focus();
});
for (const id of ["steals", "wakes", "unparks"]) element(id).addEventListener("change", redraw);
scroller.addEventListener("scroll", redraw);

// ---- Begin ----

document.documentElement.classList.add("has-script");
document.querySelector(".viewer").hidden = false;
readColours();
resize();
new ResizeObserver(() => {
    if (scroller.clientWidth !== size?.width) resize();
}).observe(scroller);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    resize();
});
performance.measure("report-open", "report-begin");
