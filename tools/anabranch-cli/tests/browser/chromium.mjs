// A headless Chromium, spoken to over its debugging pipe. Needs Node 18 and nothing else.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/// Starts Chromium with one page. The page can load nothing from the network.
export async function start({ width = 1400, height = 1000 } = {}) {
    const profile = mkdtempSync(join(tmpdir(), "anabranch-browser-"));
    const program = process.env.CHROMIUM ?? "chromium";
    const child = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND", `--window-size=${width},${height}`, `--user-data-dir=${profile}`,
        "--remote-debugging-pipe", "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    const waiting = new Map();
    const listeners = [];
    let last = 0;
    let text = "";
    child.stdio[4].setEncoding("utf8").on("data", (part) => {
        const messages = (text + part).split("\0");
        text = messages.pop();
        for (const message of messages.map((message) => JSON.parse(message))) {
            const { resolve, reject } = waiting.get(message.id) ?? {};
            waiting.delete(message.id);
            if (message.error) reject?.(new Error(message.error.message));
            else if (resolve) resolve(message.result);
            else listeners.forEach((listener) => listener(message));
        }
    });
    let session;
    const send = (method, params = {}) => new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        child.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId: session })}\0`);
    });
    const { targetInfos } = await send("Target.getTargets");
    const { targetId } = targetInfos.find((target) => target.type === "page");
    session = (await send("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    const errors = [];
    const requests = [];
    listeners.push(({ method, params }) => {
        if (method === "Runtime.exceptionThrown") errors.push(params.exceptionDetails.exception?.description ?? "exception");
        if (method === "Log.entryAdded") errors.push(params.entry.text);
        if (method === "Network.requestWillBeSent") requests.push(params.request.url);
    });
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);
    await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });

    const evaluate = async (expression) => {
        const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
        if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    };
    // Two frames later everything is drawn.
    const settle = () => evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))");
    return {
        send, evaluate, settle, errors, requests,
        async open(file) {
            const loaded = new Promise((resolve) => listeners.push(({ method }) => method === "Page.loadEventFired" && resolve()));
            const begin = performance.now();
            await send("Page.navigate", { url: `file://${file}` });
            await loaded;
            await settle();
            return performance.now() - begin;
        },
        async press(key, code = key) {
            const text = key.length === 1 ? key : undefined;
            const windowsVirtualKeyCode = { Enter: 13, Escape: 27, Tab: 9, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 }[key];
            await send("Input.dispatchKeyEvent", { type: "keyDown", key, code, text: key === "Enter" ? "\r" : text, windowsVirtualKeyCode });
            await send("Input.dispatchKeyEvent", { type: "keyUp", key, code, windowsVirtualKeyCode });
            await settle();
        },
        async mouse(type, x, y, more = {}) {
            await send("Input.dispatchMouseEvent", { type, x, y, ...more });
        },
        async click(x, y) {
            for (const type of ["mouseMoved", "mousePressed", "mouseReleased"]) {
                await this.mouse(type, x, y, { button: type === "mouseMoved" ? "none" : "left", clickCount: 1 });
            }
            await settle();
        },
        colours: (value) => send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] }),
        async screenshot(file, full = false) {
            const { data } = await send("Page.captureScreenshot", { format: "png", captureBeyondViewport: full });
            writeFileSync(file, Buffer.from(data, "base64"));
        },
        async pdf(file) {
            const { data } = await send("Page.printToPDF", { printBackground: true });
            writeFileSync(file, Buffer.from(data, "base64"));
        },
        async stop() {
            child.kill();
            await new Promise((resolve) => child.on("exit", resolve));
            rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
        },
    };
}
