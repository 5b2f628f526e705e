// The layout of the timeline, and its pictures.

// ---- The layout: rows below each other ----

const RULER = 24;
const HEIGHTS = { states: 18, fibers: 13, spans: 14, moments: 8 };
const rows = [];
let total = RULER;
for (const lane of lanes) {
    lane.y = total + 6;
    let y = lane.y;
    for (const row of [lane.states, lane.fibers, ...lane.spans, lane.moments]) {
        row.y = y;
        row.height = HEIGHTS[row.kind];
        if (row.n === 0 && row.kind !== "states") continue;
        rows.push(row);
        y += row.height + 1;
    }
    lane.height = y - lane.y;
    total = y + 5;
}

// ---- Drawing ----

const scroller = element("lanes");
const picture = element("picture");
const overlay = element("overlay");
const map = document.querySelector("#map canvas");
const frame = element("window");
// The part of the trace that is shown.
const view = { from: 0, to: wall };
let chosen = null;
let pinned = null;
let pointer = null;
let size = null;
let colours = null;

// Returns a colour of the style sheet as a pixel, red lowest.
function pixel(name, style) {
    const hex = parseInt(style.getPropertyValue(name).trim().slice(1), 16);
    return (0xff << 24 | (hex & 0xff) << 16 | (hex & 0xff00) | hex >> 16) >>> 0;
}

function mix(a, b, share) {
    let result = 0xff << 24;
    for (const shift of [0, 8, 16]) {
        const [x, y] = [a >> shift & 0xff, b >> shift & 0xff];
        result |= Math.round(x + (y - x) * share) << shift;
    }
    return result >>> 0;
}

function readColours() {
    const style = getComputedStyle(document.documentElement);
    const list = (letter, count) => Array.from({ length: count }, (_, i) => pixel(`--${letter}${i}`, style));
    const ground = pixel("--ground", style);
    const text = (name) => style.getPropertyValue(name).trim();
    // Each colour in 17 strengths, from the ground to itself.
    const strengths = (colour) => Array.from({ length: 17 }, (_, i) => mix(ground, colour, i / 16));
    colours = {
        ground, states: list("c", description.states.length), hues: list("h", HUES).map(strengths), moment: strengths(pixel("--ink", style)),
        paper: text("--ground"), ink: text("--ink"), faint: text("--faint"), line: text("--line"), focus: text("--focus"),
        links: [text("--steal"), text("--wake"), text("--unpark")], mark: text("--mark"), onHue: text("--on-hue"),
        onState: text("--on-state"),
    };
}

function resize() {
    const width = scroller.clientWidth;
    // Nothing is shown while the page is printed.
    if (width === 0) return;
    const height = Math.min(total + 4, Math.max(240, Math.round(innerHeight * 0.72)));
    const scale = Math.min(devicePixelRatio || 1, 2);
    const gutter = Math.min(150, Math.round(width * 0.22));
    size = { width, height, scale, gutter, columns: Math.max(1, Math.round((width - gutter) * scale)) };
    element("space").style.height = `${total}px`;
    scroller.style.height = `${height}px`;
    for (const canvas of [picture, overlay]) {
        canvas.width = Math.round(width * scale);
        canvas.height = Math.round(height * scale);
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    size.image = new ImageData(picture.width, picture.height);
    size.pixels = new Uint32Array(size.image.data.buffer);
    drawMap();
    redraw();
}

const xOf = (time) => size.gutter + (time - view.from) / (view.to - view.from) * (size.width - size.gutter);
const timeOf = (x) => view.from + (x - size.gutter) / (size.width - size.gutter) * (view.to - view.from);
const visible = (y, height) => y + height > scroller.scrollTop + RULER && y < scroller.scrollTop + size.height;

// Draws the shares of states in a column, from the top, each in its colour.
function stack(pixels, stride, x, y, height, parts, whole, palette) {
    let sum = 0;
    let at = 0;
    for (let c = 0; c < palette.length; c++) {
        if (parts[c] <= 0) continue;
        sum += parts[c];
        const stop = Math.min(height, Math.round(sum / whole * height));
        for (; at < stop; at++) pixels[(y + at) * stride + x] = palette[c];
    }
}

// Draws the pieces of a row as pixels. Returns the labels that fit.
function paint(row, image, stride, left, top, labels) {
    const { scale, columns } = size;
    const step = (view.to - view.from) / columns;
    const height = Math.round(row.height * scale);
    const fill = (x, stop, colour) => {
        for (let y = Math.max(top, 0); y < top + height; y++) {
            image.fill(colour, y * stride + left + x, y * stride + left + stop);
        }
    };
    if (row.kind === "moments") {
        let i = lowerBound(row.begin, view.from, 0, row.n);
        for (let x = 0; x < columns && i < row.n; x++) {
            x = Math.max(x, Math.floor((row.begin[i] - view.from) / step));
            if (x >= columns) break;
            const j = lowerBound(row.begin, view.from + (x + 1) * step, i, row.n);
            // One moment is two pixels wide, so that it is seen.
            const strength = Math.min(14, 6 + Math.floor(Math.log2(Math.max(j - i, 1))));
            fill(x, Math.min(columns, x + Math.ceil(scale)), colours.moment[strength]);
            i = Math.max(j, i + 1);
        }
        return;
    }
    const isState = row.kind === "states";
    forColumns(row, view.from, step, columns, (x, stop, i) => {
        fill(x, stop, isState ? colours.states[row.hue[i]] : colours.hues[row.hue[i]][16]);
        // A line of the ground's colour ends each long piece.
        if (stop - x > 3 * scale && stop < columns) fill(stop - 1, stop, colours.ground);
        if (stop - x > 44 * scale) labels.push({ row, i, x: x / scale, width: (stop - x) / scale });
    }, (x, i, j, from, to) => {
        const parts = shares(row, i, j, from, to);
        if (isState) {
            if (top >= 0) stack(image, stride, left + x, top, height, parts, to - from, colours.states);
            return;
        }
        let most = 0;
        let sum = 0;
        for (let c = 0; c < HUES; c++) {
            sum += parts[c];
            if (parts[c] > parts[most]) most = c;
        }
        const hue = sum > 0 ? most : row.hue[i];
        fill(x, x + 1, colours.hues[hue][Math.min(16, Math.max(6, Math.round(sum / (to - from) * 16)))]);
    });
}

function draw() {
    if (!size) return;
    performance.mark("report-draw");
    const { width, height, scale, gutter } = size;
    const context = picture.getContext("2d", { alpha: false });
    const stride = picture.width;
    const { image, pixels } = size;
    pixels.fill(colours.ground);
    const labels = [];
    const left = Math.round(gutter * scale);
    // The rows end at the right border of the picture.
    size.columns = stride - left;
    for (const row of rows) {
        const top = Math.round((row.y - scroller.scrollTop) * scale);
        if (visible(row.y, row.height) && top >= 0 && top + Math.round(row.height * scale) <= picture.height) {
            paint(row, pixels, stride, left, top, labels);
        }
    }
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(image, 0, 0);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    drawLabels(context, labels);
    const hiddenLines = drawLinks(context);
    drawMarks(context);
    drawGutter(context);
    drawRuler(context);
    showRange(hiddenLines);
    drawOverlay();
    performance.measure("report-draw", "report-draw");
}

function drawLabels(context, labels) {
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (const { row, i, x, width } of labels) {
        let text;
        if (row.kind === "spans") text = site(row.subject[i]);
        else if (row.kind === "fibers") text = fiberName(row.subject[i]);
        else text = row.subject[i] ? site(row.subject[i]) : description.states[row.hue[i]];
        context.save();
        context.beginPath();
        context.rect(size.gutter + x, row.y - scroller.scrollTop, width - 2, row.height);
        context.clip();
        context.fillStyle = row.kind === "states" ? colours.onState : colours.onHue;
        context.fillText(text, size.gutter + x + 4, row.y - scroller.scrollTop + row.height / 2 + 0.5);
        context.restore();
    }
}

// Draws the lines between threads, unless there are too many. Returns those that it has left out, as texts.
const MOST_LINES = 500;
function drawLinks(context) {
    const left = [];
    const shown = [element("steals").checked, element("wakes").checked, element("unparks").checked];
    const middle = (lane) => lanes[lane].y + HEIGHTS.states / 2 - scroller.scrollTop;
    context.save();
    context.beginPath();
    context.rect(size.gutter, RULER, size.width, size.height);
    context.clip();
    links.forEach((set, kind) => {
        if (!shown[kind] || set.n === 0) return;
        const first = lowerBound(set.from, view.from, 0, set.n);
        const stop = lowerBound(set.from, view.to, first, set.n);
        const ends = lowerBound(set.ends, view.from, 0, set.n);
        const endsStop = lowerBound(set.ends, view.to, ends, set.n);
        if (stop - first + endsStop - ends > 2 * MOST_LINES) {
            const names = ["steal", "wake of a fiber", "wake of a thread"];
            const many = ["steals", "wakes of fibers", "wakes of threads"];
            left.push(stop - first === 1 ? `1 ${names[kind]}` : `${(stop - first).toLocaleString("en")} ${many[kind]}`);
            return;
        }
        context.strokeStyle = context.fillStyle = colours.links[kind];
        context.setLineDash(kind === 0 ? [] : kind === 1 ? [5, 2] : [2, 3]);
        context.lineWidth = 1.3;
        context.globalAlpha = stop - first > MOST_LINES / 4 ? 0.45 : 0.9;
        const line = (index) => {
            const [x1, x2] = [xOf(set.from[index]), xOf(set.to[index])];
            const [y1, y2] = [middle(set.fromLane[index]), middle(set.toLane[index])];
            context.beginPath();
            context.moveTo(x1, y1);
            context.lineTo(x2, y2);
            context.stroke();
            arrowhead(context, x1, y1, x2, y2);
        };
        for (let i = first; i < stop; i++) line(i);
        for (let k = ends; k < endsStop; k++) if (set.byEnd[k] < first) line(set.byEnd[k]);
    });
    context.restore();
    return left;
}

function arrowhead(context, x1, y1, x2, y2) {
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 3) return;
    const [dx, dy] = [(x2 - x1) / length * 7, (y2 - y1) / length * 7];
    context.beginPath();
    context.moveTo(x2, y2);
    context.lineTo(x2 - dx - dy * 0.45, y2 - dy + dx * 0.45);
    context.lineTo(x2 - dx + dy * 0.45, y2 - dy - dx * 0.45);
    context.fill();
}

// Draws the marks of the program as lines over all threads, with their names if there is space.
const MOST_MARKS = 60;
function drawMarks(context) {
    const first = lowerBound(marks.times, view.from, 0, marks.times.length);
    const stop = lowerBound(marks.times, view.to, first, marks.times.length);
    // Many marks are short lines in the ruler only.
    const height = stop - first > MOST_MARKS ? RULER : size.height;
    context.strokeStyle = context.fillStyle = colours.mark;
    context.lineWidth = 1;
    context.font = "11px system-ui, sans-serif";
    let free = -Infinity;
    for (let i = first; i < stop; i++) {
        const x = Math.round(xOf(marks.times[i])) + 0.5;
        context.beginPath();
        context.moveTo(x, RULER - 4);
        context.lineTo(x, height);
        context.stroke();
        if (x > free && height > RULER) {
            const text = site(marks.names[i]);
            context.fillText(text, x + 3, size.height - 8);
            free = x + context.measureText(text).width + 8;
        }
    }
}

function drawGutter(context) {
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, size.gutter, size.height);
    context.textBaseline = "middle";
    for (const lane of lanes) {
        const y = lane.y - scroller.scrollTop;
        if (!visible(lane.y, lane.height)) continue;
        context.save();
        context.beginPath();
        context.rect(0, y - 4, size.gutter - 6, lane.height + 4);
        context.clip();
        context.fillStyle = colours.ink;
        context.font = "600 12px system-ui, sans-serif";
        context.fillText(lane.name, 4, y + HEIGHTS.states / 2);
        if (lane.role && lane.height > 32) {
            context.fillStyle = colours.faint;
            context.font = "11px system-ui, sans-serif";
            context.fillText(lane.role, 4, y + HEIGHTS.states / 2 + 15);
        }
        context.restore();
        context.fillStyle = colours.line;
        context.fillRect(0, y + lane.height + 2, size.width, 1);
    }
}

function niceStep(least) {
    const power = 10 ** Math.floor(Math.log10(least));
    return [1, 2, 5, 10].map((times) => times * power).find((step) => step >= least);
}

function drawRuler(context) {
    context.fillStyle = colours.paper;
    context.fillRect(0, 0, size.width, RULER);
    const step = niceStep((view.to - view.from) / (size.width - size.gutter) * 110);
    context.fillStyle = colours.faint;
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
        const x = Math.round(xOf(time));
        context.fillRect(x, RULER - 7, 1, 5);
        const text = moment(time, step);
        if (x + 4 + context.measureText(text).width < size.width) context.fillText(text, x + 4, RULER / 2 - 1);
    }
    context.fillStyle = colours.line;
    context.fillRect(0, RULER - 2, size.width, 1);
}

// Marks what is chosen and what is pinned, and the position of the pointer.
function drawOverlay() {
    const context = overlay.getContext("2d");
    context.setTransform(size.scale, 0, 0, size.scale, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    if (pointer && pointer.x > size.gutter) {
        context.fillStyle = colours.faint;
        context.fillRect(pointer.x, RULER, 1, size.height);
    }
    context.save();
    context.beginPath();
    context.rect(size.gutter - 2, RULER, size.width, size.height);
    context.clip();
    const outline = ({ row, index }, wide) => {
        const x = Math.max(xOf(row.begin[index]), size.gutter - 4);
        const stop = Math.min(xOf(row.end[index]), size.width + 4);
        if (stop < size.gutter || x > size.width) return;
        context.lineWidth = wide;
        context.strokeRect(x - 1, row.y - scroller.scrollTop - 1, Math.max(stop - x, 2) + 2, row.height + 2);
    };
    context.strokeStyle = colours.ink;
    if (pinned?.row.kind === "fibers") for (const run of runsOf(pinned, 4000)) outline(run, 1);
    if (pinned) outline(pinned, 2.5);
    context.strokeStyle = colours.focus;
    if (chosen) outline(chosen, 2);
    context.restore();
    const share = (time) => time / wall * 100;
    frame.style.left = `${share(view.from)}%`;
    frame.style.width = `max(4px, ${share(view.to - view.from)}%)`;
}

// Draws how many threads are in each state, over the whole trace.
function drawMap() {
    const scale = size.scale;
    const [width, height] = [Math.round(map.parentElement.clientWidth * scale), Math.round(44 * scale)];
    map.width = width;
    map.height = height;
    const count = description.states.length;
    const sums = new Float64Array(width * count);
    const step = wall / width;
    for (const { states } of lanes) {
        forColumns(states, 0, step, width, (x, stop, i) => {
            for (; x < stop; x++) sums[x * count + states.hue[i]] += step;
        }, (x, i, j, left, right) => {
            const parts = shares(states, i, j, left, right);
            for (let c = 0; c < count; c++) sums[x * count + c] += parts[c];
        });
    }
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    pixels.fill(colours.ground);
    const users = Math.max(1, lanes.filter((lane) => lane.states.n > 0).length);
    for (let x = 0; x < width; x++) {
        stack(pixels, width, x, 0, height, sums.subarray(x * count, (x + 1) * count), step * users, colours.states);
    }
    map.getContext("2d").putImageData(image, 0, 0);
}

function showRange(hiddenLines) {
    const length = view.to - view.from;
    let text = `${moment(view.from, length / 100)} to ${moment(view.to, length / 100)}: ${duration(length)}`;
    if (hiddenLines.length > 0) text += `. Zoom in to see ${hiddenLines.join(" and ")} as lines.`;
    element("range").textContent = text;
}

let isScheduled = false;
function redraw() {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
        isScheduled = false;
        draw();
    });
}
