import { createHash } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readPackages } from '../licenses.js';
import { linkParts } from './link-parts.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Packages that are left out: a second layout of graphs, which takes as much as all others together, and formulas in labels. A diagram that
 * needs them is shown as its source.
 */
const LEFT_OUT = /^(elkjs|katex)(\/|$)/;

/** The files of the diagrams by what they draw. Whatever is in no group is in `common`, which each of them loads before. */
const GROUPS = [
  ['charts', /^(pie|quadrant|sankey|venn|xychart)/i],
  ['plans', /^(gantt|journey|kanban|timeline|ishikawa)/i],
  ['sequence', /^sequence/],
  ['graphs', /^(block|classDiagram|dagre|erDiagram|flow|requirement|stateDiagram|gitGraphDiagram)/],
  [
    'rare',
    /^(c4|cynefin|wardley|usecase|swimlanes|elk|railroadDiagram|(ebnf|abnf|peg)Diagram|diagram-|bpmn|sizeCapture)/,
  ],
  ['maps', /^(architectureDiagram|mindmap|cose)/],
];

/** Shared code that only some diagrams need, by a package in it. */
const SHARED = [
  ['maps', 'cytoscape'],
  ['parser', '@mermaid-js/parser'],
];

/**
 * Builds the frame that draws diagrams: its document, its scripts, which have their hashes in their names, and its policy. Returns
 * `{ texts, policy, packages }`; `texts` are the served paths with their contents, `packages` those that are in them.
 */
export async function buildDiagrams() {
  const { outputFiles, metafile } = await bundle();
  const { shell, parts } = linkParts(toChunks(outputFiles, metafile));
  const groups = new Map([['diagram', []]]);
  for (const part of parts) {
    const name = groupOf(part.name, metafile);
    groups.set(name, [...(groups.get(name) ?? []), part]);
  }
  const files = [...groups].map(([name, members]) =>
    toFile(name, name === 'diagram' ? shell : members.map(toMade).join('\n')),
  );
  const fileOf = Object.fromEntries(files.map((file) => [file.group, file]));
  const rows = parts.map(({ name, needs }) => {
    const { file, integrity } = fileOf[groupOf(name, metafile)];
    return [name, { file, integrity, needs }];
  });
  const html = toHtml(fileOf.diagram, Object.fromEntries(rows));
  return {
    texts: {
      '/static/diagram.html': html,
      ...Object.fromEntries(files.map(({ file, code }) => [`/static/${file}`, code])),
    },
    policy: toPolicy(files),
    packages: await readPackages(Object.keys(metafile.inputs).map((input) => path.resolve(ROOT, input))),
  };
}

const bundle = () =>
  build({
    absWorkingDir: ROOT,
    entryPoints: { shell: 'src/page/diagram/frame.ts' },
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    outdir: 'diagrams',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
    plugins: [leaveOut],
  });

const leaveOut = {
  name: 'leave-out',
  setup(builder) {
    builder.onResolve({ filter: LEFT_OUT }, ({ path: name }) => ({ path: name, namespace: 'left-out' }));
    builder.onLoad({ filter: /^/, namespace: 'left-out' }, () => ({ contents: 'export default undefined;' }));
  },
};

/** The entry first. */
function toChunks(outputFiles, metafile) {
  const chunks = outputFiles.map(({ path: file, text }) => ({
    name: toName(file),
    fileName: path.basename(file),
    code: text,
  }));
  const entries = Object.entries(metafile.outputs).filter(([, { entryPoint }]) => entryPoint?.endsWith('/frame.ts'));
  const entry = toName(entries[0][0]);
  return chunks.toSorted((a, b) => Number(b.name === entry) - Number(a.name === entry));
}

/** As a property in code. */
const toName = (file) => path.basename(file, '.js').replaceAll(/\W/g, '_');

function groupOf(name, { outputs }) {
  const [, { inputs, entryPoint }] = Object.entries(outputs).find(([file]) => toName(file) === name);
  const files = Object.keys(inputs);
  const shared = SHARED.find(([, one]) =>
    [...files, entryPoint ?? ''].some((file) => file.includes(`node_modules/${one}/`)),
  );
  if (shared !== undefined) return toGroup(shared[0]);
  return toGroup(GROUPS.find(([, pattern]) => pattern.test(name))?.[0] ?? 'common');
}

const toGroup = (name) => `diagram-${name}`;

/** A script holds several parts, of which only those that a diagram needs run (src/page/diagram/frame.ts). */
const toMade = ({ name, code }) => `headgate.made.${name}=()=>{${code}};`;

function toFile(group, code) {
  const digest = createHash('sha256').update(code).digest();
  return {
    group,
    code,
    file: `${group}-${digest.toString('hex').slice(0, 12)}.js`,
    integrity: `sha256-${digest.toString('base64')}`,
  };
}

/** Its origin is opaque, so its scripts are of another origin for the browser: they need `crossorigin`. */
const toHtml = ({ file, integrity }, rows) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Diagrams of Headgate</title>
<script type="application/json" id="parts">${JSON.stringify(rows)}</script>
<body>
<script src="/static/${file}" integrity="${integrity}" crossorigin="anonymous"></script>
`;

/**
 * The frame runs its own scripts, has an opaque origin even if it is opened alone, and asks for nothing else. It measures with styles that are
 * made of the source; without images, fonts and connections they can send nothing away.
 */
const toPolicy = (files) =>
  [
    "default-src 'none'",
    `script-src ${files.map(({ integrity }) => `'${integrity}'`).join(' ')}`,
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    'sandbox allow-scripts',
  ].join(';');
