// Makes dist/: one page, one script, one style sheet, and the licences of what is in them.
// `--tests` makes the unit tests into .test/ instead. Same sources, same bytes.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");

// The library draws each message inside one and the same id. Ids are for one thing on a page, so it
// becomes a class: said four times, it still wins over the library's own rules by class and tag.
const oneClassInsteadOfOneId = {
  name: "one-class-instead-of-one-id",
  setup(bundle) {
    bundle.onLoad({ filter: /slack-blocks-to-jsx\/dist\/index\.mjs$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll('id:"slack_blocks_to_jsx",', ""),
      loader: "js",
    }));
    bundle.onLoad({ filter: /slack-blocks-to-jsx\/dist\/style\.css$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replaceAll(
        "#slack_blocks_to_jsx",
        ".slack_blocks_to_jsx".repeat(4),
      ),
      loader: "css",
    }));
  },
};

const shared = {
  absWorkingDir: here,
  bundle: true,
  format: "esm",
  jsx: "automatic",
  logLevel: "warning",
  plugins: [oneClassInsteadOfOneId],
};

if (process.argv.includes("--tests")) await buildTests();
else await buildPage();

async function buildPage() {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(join(dist, "assets"), { recursive: true });
  const made = await build({
    ...shared,
    entryPoints: { app: "src/main.tsx", theme: "src/ui/first-theme.ts" },
    outdir: "dist/assets",
    entryNames: "[name]-[hash]",
    target: ["es2022"],
    minify: true,
    metafile: true,
    legalComments: "none",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  cpSync(join(here, "src/icon.svg"), join(dist, "icon.svg"));
  writeFileSync(join(dist, "index.html"), page(Object.keys(made.metafile.outputs)));
  writeFileSync(join(dist, "licences.txt"), licences(Object.keys(made.metafile.inputs)));
}

/** The page, with what was built in place of {{app.js}}: names carry a hash of what is in them. */
function page(built) {
  return readFileSync(join(here, "src/index.html"), "utf8").replace(/{{(\w+)\.(\w+)}}/g, named);

  function named(_whole, name, kind) {
    const found = built.find((path) => new RegExp(`/${name}-\\w+\\.${kind}$`).test(path));
    if (!found) throw new Error(`nothing was built for ${name}.${kind}`);
    return found.replace(/^dist/, "");
  }
}

async function buildTests() {
  const tests = readdirSync(join(here, "src"), { recursive: true }).filter((name) =>
    name.endsWith(".test.ts"),
  );
  rmSync(join(here, ".test"), { recursive: true, force: true });
  await build({
    ...shared,
    entryPoints: tests.map((name) => join("src", name)),
    outdir: ".test",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    target: ["node20"],
  });
}

function licences(inputs) {
  const folder = /^(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//;
  const packages = new Set(inputs.map((path) => folder.exec(path)?.[1]).filter(Boolean));
  return [...packages].sort().map(licence).join("\n\n");
}

function licence(path) {
  const { name, version, license } = JSON.parse(readFileSync(join(here, path, "package.json")));
  const file = readdirSync(join(here, path)).find((one) => /^licen[cs]e/i.test(one));
  const text = file ? readFileSync(join(here, path, file), "utf8").trim() : "";
  return `${name} ${version} (${license})\n\n${text}`;
}
