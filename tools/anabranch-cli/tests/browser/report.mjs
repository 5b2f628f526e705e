// Opens reports in a headless Chromium (`CHROMIUM` names its program): presses keys, clicks, prints, and measures a trace
// of a million events.
//
//     out=target/report; mkdir -p $out
//     cargo build --release -p anabranch-cli --bin anabranch --example sample_trace
//     for n in 4000 1000000; do
//         target/release/examples/sample_trace $n > $out/$n.trace && target/release/anabranch report $out/$n.trace
//     done
//     node tools/anabranch-cli/tests/browser/report.mjs $out/4000.trace.html $out/1000000.trace.html $out
//
// `report.mjs SMALL.html BIG.html [DIRECTORY [RESULTS.html]]`:
// the reports of traces that `sample_trace` has written, a directory for pictures, and the report of results. Prints what
// was measured.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { start } from "./chromium.mjs";

const [small, big, pictures, results] = process.argv.slice(2).map((path) => resolve(path));
const browser = await start();
const text = (selector) => browser.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent`);
const isHidden = (id) => browser.evaluate(`document.getElementById("${id}").hidden`);
const range = () => text("#range");
const focus = () => browser.evaluate(`document.getElementById("lanes").focus()`);
const shoot = (name, full) => pictures && browser.screenshot(join(pictures, name), full);
const box = () => browser.evaluate(`(({ left, top, width }) => ({ left, top, width }))(document.getElementById("overlay").getBoundingClientRect())`);
/// How many different colours a canvas shows.
const colours = (id) => browser.evaluate(`(() => {
    const canvas = document.querySelector("${id}");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
})()`);

async function test(name, body) {
    try {
        await body();
        console.log(`ok    ${name}`);
    } catch (error) {
        console.log(`FAIL  ${name}\n${error.stack}`);
        process.exitCode = 1;
    }
}

await browser.open(small);

await test("page opens without errors or requests", async () => {
    assert.deepEqual(browser.errors, []);
    assert.deepEqual(browser.requests.filter((url) => !url.startsWith("file://")), []);
    assert.equal(browser.requests.length, 1);
    assert.ok(await colours("#picture") > 10);
    assert.ok(await colours("#map canvas") > 3);
});

await test("labels stay text", async () => {
    assert.match(await browser.evaluate("document.title"), /^sample & <b>/);
    assert.equal(await browser.evaluate(`document.querySelectorAll("img").length`), 0);
    assert.match(await text("#spans"), /<\/script><img src=x onerror=/);
});

await test("a screen reader finds names, roles and the table of totals", async () => {
    const { nodes } = await browser.send("Accessibility.getFullAXTree");
    const named = (role, name) => nodes.some((node) => node.role?.value === role && name.test(node.name?.value ?? ""));
    assert.ok(named("application", /^Timeline of the threads/));
    assert.ok(named("heading", /^Timeline$/));
    assert.ok(named("button", /^Zoom in$/));
    assert.ok(named("checkbox", /^Steals$/));
    assert.ok(named("image", /^Time of all threads by state: working/));
    assert.ok(named("table", /^Time of each thread by state/));
    assert.ok(named("rowheader", /^pool-0/));
});

await test("the keyboard reaches the timeline, and shows its keys", async () => {
    for (let i = 0; i < 30 && await browser.evaluate("document.activeElement.id") !== "lanes"; i++) await browser.press("Tab");
    assert.equal(await browser.evaluate("document.activeElement.id"), "lanes");
    assert.equal(await isHidden("keys"), true);
    await browser.press("?");
    assert.equal(await isHidden("keys"), false);
    await browser.press("?");
});

await test("keys zoom and move", async () => {
    await focus();
    const whole = await range();
    await browser.press("+");
    const half = await range();
    assert.notEqual(half, whole);
    await browser.press("ArrowLeft");
    assert.notEqual(await range(), half);
    await browser.press("ArrowRight");
    assert.equal(await range(), half);
    await browser.press("-");
    assert.equal(await range(), whole);
    for (let i = 0; i < 60; i++) await browser.press("+");
    assert.match(await range(), /: 50 ns/);
    await browser.press("0");
    assert.equal(await range(), whole);
});

await test("keys choose, say and pin", async () => {
    await focus();
    await browser.press("ArrowDown");
    assert.match(await text("#chosen"), /^(working|searching|parked|waiting).* Thread: pool-0/);
    const first = await text("#chosen");
    await browser.press("n");
    assert.notEqual(await text("#chosen"), first);
    await browser.press("p");
    assert.equal(await text("#chosen"), first);
    await browser.press("ArrowDown");
    assert.match(await text("#chosen"), /^fiber \d+\. .*Then: it waits: recv at main\.rs:40|^fiber \d+\. .*Then: it ends/);
    await browser.press("Enter");
    assert.equal(await isHidden("details"), false);
    assert.match(await text("#details h3"), /^fiber \d+$/);
    await browser.press("z");
    await shoot("pinned.png");
    await browser.press("Escape");
    assert.equal(await isHidden("details"), true);
    await browser.press("0");
});

await test("pinned details agree with the table of the page", async () => {
    await focus();
    // The only call is on the last thread: its length is in the table of spans, in nanoseconds.
    const expected = await browser.evaluate(`[...document.querySelectorAll("#spans tr")]
        .find((row) => row.textContent.startsWith("call: install")).children[2].dataset.value`);
    await browser.press("Escape");
    for (let i = 0; i < 60 && !/^call: install/.test(await text("#chosen")); i++) await browser.press("ArrowDown");
    assert.match(await text("#chosen"), /^call: install/);
    await browser.press("Enter");
    assert.equal((await text("#details dl")).match(/\(([\d,]+) ns\)/)[1].replaceAll(",", ""), expected);
    await browser.press("Escape");
});

await test("hover shows, click pins, drag moves, wheel zooms", async () => {
    await browser.press("0");
    const { left, top, width } = await box();
    await browser.mouse("mouseMoved", left + width / 2, top + 38);
    await browser.settle();
    assert.equal(await isHidden("hover"), false);
    assert.match(await text("#hover"), /working|searching|parked|waiting|states/);
    const whole = await range();
    await browser.mouse("mouseWheel", left + width / 2, top + 38, { deltaX: 0, deltaY: -1200 });
    await browser.settle();
    const near = await range();
    assert.notEqual(near, whole);
    await browser.click(left + width / 2, top + 38);
    assert.equal(await isHidden("details"), false);
    assert.match(await text("#details"), /Thread.*pool-0.*Lasts/);
    await shoot("clicked.png");
    await browser.mouse("mousePressed", left + width / 2, top + 38, { button: "left", buttons: 1, clickCount: 1 });
    await browser.mouse("mouseMoved", left + width / 2 - 200, top + 38, { button: "left", buttons: 1 });
    await browser.mouse("mouseReleased", left + width / 2 - 200, top + 38, { button: "left", clickCount: 1 });
    await browser.settle();
    assert.notEqual(await range(), near);
    await browser.evaluate(`document.getElementById("unpin").click()`);
    assert.equal(await isHidden("details"), true);
    await focus();
    await browser.press("0");
});

await test("a fiber's runs lead to each other", async () => {
    await focus();
    await browser.press("Escape");
    await browser.press("ArrowDown");
    await browser.press("ArrowDown");
    await browser.press("Enter");
    const begin = async () => (await text("#details dl")).match(/From([\d.]+)/)[1];
    const before = [await text("#details h3"), await begin()];
    await browser.evaluate(`[...document.querySelectorAll(".related button")].at(-1).click()`);
    const next = [await text("#details h3"), await begin()];
    if (/not in this trace/.test(await text(".related"))) {
        await browser.evaluate(`[...document.querySelectorAll(".related button")][0].click()`);
        const previous = [await text("#details h3"), await begin()];
        assert.equal(previous[0], before[0]);
        assert.ok(Number(previous[1]) < Number(before[1]));
    } else {
        assert.equal(next[0], before[0]);
        assert.ok(Number(next[1]) > Number(before[1]));
    }
    await browser.press("Escape");
});

await test("light and dark differ, and both are drawn", async () => {
    const ground = () => browser.evaluate(`getComputedStyle(document.body).backgroundColor`);
    const corner = () => browser.evaluate(`[...document.getElementById("picture").getContext("2d").getImageData(2, 2, 1, 1).data].join()`);
    await browser.colours("light");
    await browser.settle();
    const light = [await ground(), await corner()];
    await shoot("light.png", true);
    await browser.colours("dark");
    await browser.settle();
    const dark = [await ground(), await corner()];
    await shoot("dark.png", true);
    assert.deepEqual(light, ["rgb(255, 255, 255)", "255,255,255,255"]);
    assert.deepEqual(dark, ["rgb(20, 24, 29)", "20,24,29,255"]);
});

await test("print shows the static picture in light colours", async () => {
    await browser.send("Emulation.setEmulatedMedia", { media: "print", features: [{ name: "prefers-color-scheme", value: "dark" }] });
    const shown = (selector) => browser.evaluate(`getComputedStyle(document.querySelector("${selector}")).display`);
    assert.deepEqual([await shown(".viewer"), await shown(".static")], ["none", "block"]);
    assert.equal(await browser.evaluate(`getComputedStyle(document.body).backgroundColor`), "rgb(255, 255, 255)");
    await shoot("print.png", true);
    await browser.send("Emulation.setEmulatedMedia", { media: "", features: [] });
    const file = join(pictures ?? "/tmp", "report.pdf");
    await browser.pdf(file);
    assert.equal(readFileSync(file).subarray(0, 5).toString(), "%PDF-");
    assert.ok(statSync(file).size > 10_000);
});

await test("a narrow page fits", async () => {
    await browser.send("Emulation.setDeviceMetricsOverride", { width: 420, height: 800, deviceScaleFactor: 2, mobile: false });
    await browser.settle();
    assert.ok(await browser.evaluate("document.documentElement.scrollWidth") <= 420);
    await shoot("narrow.png");
    await browser.send("Emulation.setDeviceMetricsOverride", { width: 1400, height: 1000, deviceScaleFactor: 1, mobile: false });
});

await test("the large trace opens within two seconds and zooms at once", async () => {
    const opened = await browser.open(big);
    await focus();
    const measures = (name) => browser.evaluate(`performance.getEntriesByName("${name}", "measure").map((entry) => entry.duration)`);
    const [ready] = await measures("report-open");
    const before = (await measures("report-draw")).length;
    for (let i = 0; i < 18; i++) await browser.press("+");
    for (let i = 0; i < 10; i++) await browser.press("ArrowRight");
    for (let i = 0; i < 18; i++) await browser.press("-");
    const draws = (await measures("report-draw")).slice(before).sort((a, b) => a - b);
    await shoot("big.png");
    const ms = (value) => `${value.toFixed(0)} ms`;
    console.log(`      ${(statSync(big).size / 1e6).toFixed(1)} MB; opened and drawn in ${ms(opened)}, of which the script ${ms(ready)}; `
        + `${draws.length} pictures: median ${ms(draws[draws.length >> 1])}, longest ${ms(draws.at(-1))}`);
    assert.ok(opened < 2000, `${opened} ms`);
    // Two frames of a screen at 30 Hz, in a browser without a graphics card.
    assert.ok(draws[draws.length >> 1] < 66, draws.join());
});

if (results) {
    await test("results show charts in light and dark, and print", async () => {
        await browser.open(results);
        const shown = await browser.evaluate(`[...document.querySelectorAll("figcaption")].map((caption) => caption.textContent.split(/[:,]/)[0])`);
        for (const title of ["Speed-up by threads", "Samples", "Course over builds"]) assert.ok(shown.includes(title), title);
        const paint = `getComputedStyle(document.querySelector(".l0 .marker")).fill`;
        await browser.colours("light");
        const light = await browser.evaluate(paint);
        await shoot("results-light.png", true);
        await browser.colours("dark");
        assert.notEqual(await browser.evaluate(paint), light);
        await shoot("results-dark.png", true);
        await browser.evaluate(`document.querySelector(".contents a").click()`);
        assert.match(await browser.evaluate("location.hash"), /^#w0$/);
        if (pictures) await browser.pdf(join(pictures, "results.pdf"));
    });
}

await test("nothing of this has raised an error", async () => {
    // The advice is about the reading of colours by these tests.
    assert.deepEqual(browser.errors.filter((error) => !error.includes("willReadFrequently")), []);
});

await browser.stop();
