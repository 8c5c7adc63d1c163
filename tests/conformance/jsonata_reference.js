#!/usr/bin/env node
// Asks npm's jsonata, to compare with: a tool, not a test. `npm install jsonata` somewhere and set NODE_PATH to its
// node_modules.
//
// usage: jsonata_reference.js bench BENCH.cc        evaluations a second, of the expressions of expression_bench.cc
//        jsonata_reference.js suite FOLDER OUT      cases changed at random, with what the reference says, as a suite
//                                                   OUT for sluice_jsonata_suite; SEED from the environment
const fs = require("fs");
const path = require("path");
const jsonata = require("jsonata");

async function bench(source) {
    const text = fs.readFileSync(source, "utf8");
    const literal = (name) => text.match(new RegExp(`${name} = R"\\(([^]*?)\\)";`))[1];
    const input = JSON.parse(literal("account"));
    const cases = [...text.matchAll(/BENCHMARK_CAPTURE\(evaluate, (\w+),\s*((?:"[^"]*"\s*)+|arguments)\)/g)];
    for (const [, name, quoted] of cases) {
        const wanted = quoted === "arguments" ? literal("arguments") : [...quoted.matchAll(/"([^"]*)"/g)].map((m) => m[1]).join("");
        const expression = jsonata(wanted);
        const bindings = { states: { input } };
        for (let i = 0; i < 5000; i++) await expression.evaluate(input, bindings);
        const begin = process.hrtime.bigint();
        let count = 0;
        while (process.hrtime.bigint() - begin < 1_000_000_000n) {
            for (let i = 0; i < 100; i++) await expression.evaluate(input, bindings);
            count += 100;
        }
        const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
        console.log(`${name.padEnd(16)} ${(1e9 * seconds / count).toFixed(0).padStart(8)} ns  ${(count / seconds).toFixed(0)}/s`);
    }
}

function randomness(seed) {
    let state = seed >>> 0;
    return (below) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 4294967296) * below);
    };
}

/// A part of one expression in the place of a part of another, by tokens.
function mutate(expressions, random) {
    const tokens = (text) => text.match(/"[^"]*"|'[^']*'|`[^`]*`|[\w$]+|:=|!=|<=|>=|~>|\.\.|\*\*|\?\?|\?:|\s+|./g) || [];
    const one = tokens(expressions[random(expressions.length)]);
    const other = tokens(expressions[random(expressions.length)]);
    for (let times = 1 + random(2); times > 0; times--) {
        const at = random(one.length), from = random(other.length);
        const inserted = random(4) === 0 ? [] : other.slice(from, from + 1 + random(6));
        one.splice(at, random(4), ...inserted);
    }
    return one.join("");
}

function timeout(promise) {
    return Promise.race([promise, new Promise((_, reject) => setTimeout(() => reject({ code: "timeout" }), 300))]);
}

async function suite(folder, out) {
    const seed = Number(process.env.SEED || 1), random = randomness(seed);
    const cases = fs.readdirSync(path.join(folder, "groups")).flatMap((name) =>
        JSON.parse(fs.readFileSync(path.join(folder, "groups", name))));
    const impure = /\$(now|millis|random|shuffle|toMillis|error)|\[1\s*\.\.|\.\.\s*\d{4,}|function-eval/;
    const usable = cases.filter((c) => !impure.test(c.expr) && c.expr.length < 300 && !c.name.startsWith("tail"));
    const made = [];
    for (let i = 0; made.length < 3000 && i < 20000; i++) {
        const base = usable[random(usable.length)];
        const same = usable.filter((c) => c.dataset === base.dataset && c.data === base.data).map((c) => c.expr);
        const expr = random(3) ? mutate(same, random) : mutate(usable.map((c) => c.expr), random);
        if (impure.test(expr)) continue;
        const input = base.data !== undefined ? base.data : base.dataset
            ? JSON.parse(fs.readFileSync(path.join(folder, "datasets", base.dataset + ".json"))) : undefined;
        const wanted = { name: `random/${seed}-${i}`, expr, bindings: {} };
        if (base.data !== undefined) wanted.data = base.data; else wanted.dataset = base.dataset || null;
        try {
            const result = await timeout(jsonata(expr).evaluate(input));
            if (result === undefined) wanted.undefinedResult = true;
            else wanted.result = JSON.parse(JSON.stringify(result));
            if (/_jsonata|"function"/.test(JSON.stringify(result) || "")) continue;
        } catch (error) {
            if (!error.code || error.code === "timeout") continue; // Not an error of the language but of JavaScript.
            wanted.code = error.code;
        }
        made.push(wanted);
    }
    fs.mkdirSync(path.join(out, "groups"), { recursive: true });
    fs.rmSync(path.join(out, "datasets"), { force: true });
    fs.symlinkSync(path.resolve(folder, "datasets"), path.join(out, "datasets"));
    fs.writeFileSync(path.join(out, "groups", "random.json"), JSON.stringify(made));
    console.log(`${made.length} cases from seed ${seed}`);
}

const [kind, ...rest] = process.argv.slice(2);
(kind === "bench" ? bench(...rest) : suite(...rest)).then(() => process.exit(0));
