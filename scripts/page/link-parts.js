import { parseAst } from 'vite';

/**
 * Turns the modules of the page into scripts. The script of the page is inline and has no address from which a module could import, so the
 * scripts find each other by name: `headgate.parts.NAME` holds what one exports, and `headgate.load(NAME)` loads it
 * (src/page/views/parts/part-loader.ts).
 *
 * `chunks`: `{ name, fileName, code }` of each module, the page itself first. Returns the script of the page, which contains the modules that
 * it imports, and `{ name, code, needs }` of each part, where `needs` names the parts that have to be loaded before.
 */
export function linkParts(chunks) {
  const names = new Map(chunks.map(({ name, fileName }) => [baseOf(fileName), name]));
  if (chunks.length !== new Set(names.values()).size)
    throw new Error(`two parts have one name: ${[...names.values()]}`);
  const linked = new Map(chunks.map(({ name, code }) => [name, linkOne({ name, code, names })]));
  const within = inOrder(chunks[0].name, linked);
  const toPart = ([name, { code, needs }]) => ({
    name,
    code: alone(code),
    needs: needs.filter((one) => !within.includes(one)),
  });
  return {
    shell: `globalThis.headgate={parts:{}};${within.map((name) => alone(linked.get(name).code)).join('')}`,
    parts: [...linked].filter(([name]) => !within.includes(name)).map(toPart),
  };
}

/** With names of its own. */
const alone = (code) => `(()=>{"use strict";${code}})();`;

/** A module after all that it imports. */
function inOrder(name, linked, above = []) {
  if (above.includes(name)) throw new Error(`modules import each other: ${[...above, name].join(', ')}`);
  const before = linked.get(name).needs.flatMap((needed) => inOrder(needed, linked, [...above, name]));
  return [...new Set([...before, name])];
}

function linkOne({ name, code, names }) {
  const needs = new Set();
  const edits = [];
  for (const node of parseAst(code).body) {
    if (node.type === 'ImportDeclaration') {
      const needed = nameOf(node.source.value, names);
      needs.add(needed);
      edits.push({ ...rangeOf(node), text: toReads(node.specifiers, needed) });
    } else if (node.type === 'ExportNamedDeclaration' && node.declaration === null && node.source === null)
      edits.push({ ...rangeOf(node), text: toWrites(node.specifiers, name) });
    else if (/^(Import|Export)/.test(node.type)) throw new Error(`${name}: cannot link ${node.type}`);
  }
  for (const node of importsIn(parseAst(code))) {
    const source = node.source.type === 'TemplateLiteral' ? node.source.quasis[0].value.cooked : node.source.value;
    edits.push({ ...rangeOf(node), text: `headgate.load(${JSON.stringify(nameOf(source, names))})` });
  }
  return { code: applyEdits(code, edits), needs: [...needs] };
}

const rangeOf = ({ start, end }) => ({ start, end });

/** `import { a as b } from "./x.js"` */
function toReads(specifiers, needed) {
  if (specifiers.length === 0) return '';
  const pairs = specifiers.map((one) => {
    if (one.type !== 'ImportSpecifier') throw new Error(`cannot link ${one.type} of ${needed}`);
    return `${keyOf(one.imported)}:${one.local.name}`;
  });
  return `const{${pairs}}=headgate.parts.${needed};`;
}

/** `export { b as a }` */
const toWrites = (specifiers, name) =>
  `headgate.parts.${name}={${specifiers.map(({ local, exported }) => `${keyOf(exported)}:${local.name}`)}};`;

const keyOf = (node) => JSON.stringify(node.type === 'Identifier' ? node.name : node.value);

function nameOf(source, names) {
  const name = names.get(baseOf(source));
  if (name === undefined) throw new Error(`${source} is no part of the page`);
  return name;
}

const baseOf = (file) => file.slice(file.lastIndexOf('/') + 1);

/** All `import(…)` below a node. */
function* importsIn(node) {
  if (node === null || typeof node !== 'object') return;
  if (node.type === 'ImportExpression') yield node;
  for (const value of Object.values(node))
    yield* Array.isArray(value) ? value.flatMap((one) => [...importsIn(one)]) : importsIn(value);
}

/** From the end to the start, so that positions stay right. */
const applyEdits = (code, edits) =>
  edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((text, { start, end, text: replacement }) => text.slice(0, start) + replacement + text.slice(end), code);
