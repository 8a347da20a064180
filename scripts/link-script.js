// Makes one classic script of the modules that a start of the daemon loads. V8 keeps the compiled functions of a script that has run, but of a
// module only those that it compiled at once, which are few: a quarter of a start was compiling the others anew (decision 150).
import { createHash } from 'node:crypto';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';
import { parseSync, Visitor } from 'vite';

/**
 * `files`: the text of each output of an esbuild bundle with splitting, by its path, as in `outputs` of its metafile. `entries`: the sources whose
 * outputs, with all that they import, become the script. Returns the files that replace these outputs: the script with its source map, and for
 * each module one of its name that exports the same, for modules that are loaded later. The module of the first entry runs the script, and
 * exports `keepCode` (src/home/compiled-script.ts, `loader`).
 */
export function linkScript({ files, outputs, entries, loader }) {
  const entryFiles = entries.map((entry) => findEntry(outputs, entry));
  const order = inOrder(entryFiles, outputs);
  const modules = order.map((file) => linkModule(file, { text: files.get(file), within: order }));
  const { script, map } = join(modules, files);
  const folder = path.dirname(entryFiles[0]);
  const name = `${path.basename(entryFiles[0]).split('-')[0]}-script-${createHash('sha256').update(script).digest('hex').slice(0, 8)}.cjs`;
  new Script(script); // throws on what only modules may contain
  const toFacade = ({ file, exported }) => facadeOf(file, { exported, name, loader, isFirst: file === entryFiles[0] });
  return new Map([
    [`${folder}/${name}`, `${script}//# sourceMappingURL=${name}.map\n`],
    [`${folder}/${name}.map`, map],
    ...modules.map((module) => [module.file, toFacade(module)]),
  ]);
}

function findEntry(outputs, entry) {
  const found = Object.keys(outputs).find((file) => outputs[file].entryPoint === entry);
  if (found === undefined) throw new Error(`${entry} is no entry of the bundle`);
  return found;
}

/** The outputs that these import, each after all that it imports. */
function inOrder(files, outputs) {
  const order = new Set();
  const add = (file, above) => {
    if (above.includes(file)) throw new Error(`modules import each other: ${[...above, file].join(', ')}`);
    for (const { kind, path: needed } of outputs[file].imports)
      if (kind === 'import-statement' && outputs[needed] !== undefined) add(needed, [...above, file]);
    order.add(file);
  };
  for (const file of files) add(file, []);
  return [...order];
}

/** Its code with the same lines and columns, as the body of a function, with what goes before and after it. */
function linkModule(file, { text, within }) {
  const cuts = [];
  const before = [];
  const exported = [];
  const { program } = parseSync('module.js', text);
  for (const node of program.body) {
    if (node.type === 'ImportDeclaration') before.push(toReads(node, { file, within }));
    else if (node.type === 'ExportNamedDeclaration' && node.declaration === null && node.source === null)
      exported.push(...node.specifiers.map((one) => ({ name: nameOf(one.exported), local: one.local.name })));
    else if (/^(Import|Export)/.test(node.type)) throw new Error(`${file}: cannot link ${node.type}`);
    else continue;
    cuts.push(node);
  }
  const isExported = ({ name }) => exported.some(({ local }) => local === name);
  const keepsValue = ({ left, argument }) => {
    if (isExported(left ?? argument))
      throw new Error(`${file}: ${(left ?? argument).name} is exported and assigned again`);
  };
  const edits = cuts.map(({ start, end }) => ({ start, end, text: '' }));
  new Visitor({
    AssignmentExpression: keepsValue,
    UpdateExpression: keepsValue,
    ImportExpression: ({ start }) => edits.push({ start, end: start + 'import'.length, text: '$later' }),
    MetaProperty: ({ start, end }) => edits.push({ start, end: end + '.url'.length, text: '$url' }),
  }).visit(program);
  return { file, before: before.join(''), code: applyEdits(text, edits), exported };
}

/** Imports as constants: what is imported has been evaluated before. */
function toReads({ source: { value: source }, specifiers }, { file, within }) {
  const needed = source.startsWith('.') ? path.posix.join(path.posix.dirname(file), source) : undefined;
  if (needed === undefined ? !isBuiltin(source) : !within.includes(needed))
    throw new Error(`${file}: cannot link ${source}`);
  if (specifiers.length === 0) return '';
  const from = needed === undefined ? `$builtin(${JSON.stringify(source)})` : `$modules[${JSON.stringify(needed)}]`;
  const whole = specifiers.filter(({ type }) => type !== 'ImportSpecifier');
  if (needed !== undefined && whole.length > 0) throw new Error(`${file}: cannot link ${whole[0].type} of ${source}`);
  const named = specifiers.filter(({ type }) => type === 'ImportSpecifier');
  const pairs = named.map(({ imported, local }) => `${JSON.stringify(nameOf(imported))}:${local.name}`);
  return [
    ...whole.map(({ local }) => `const ${local.name}=${from};`),
    ...(pairs.length === 0 ? [] : [`const{${pairs}}=${from};`]),
  ].join('');
}

const nameOf = (node) => (node.type === 'Identifier' ? node.name : node.value);

/** Each in the space of what it replaces, so that source maps stay right. */
function applyEdits(source, edits) {
  let [done, at] = ['', 0];
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    const blank = source.slice(start + text.length, end).replace(/[^\n]/g, ' ');
    done += source.slice(at, start) + text + blank;
    at = end;
  }
  return done + source.slice(at);
}

/** The script, which is one function, and its source map with one section for each module. */
function join(modules, files) {
  let script = '(function($builtin,$modules,$url,$later){"use strict";\n';
  const sections = [];
  for (const { file, before, code, exported } of modules) {
    script += `(()=>{${before}\n`;
    sections.push({ offset: { line: countLines(script), column: 0 }, map: JSON.parse(files.get(`${file}.map`)) });
    const fields = exported.map(({ name, local }) => `${JSON.stringify(name)}:${local}`);
    script += `${withoutMap(code)}\n;$modules[${JSON.stringify(file)}]={${fields}}})();\n`;
  }
  return { script: `${script}})\n`, map: JSON.stringify({ version: 3, sections }) };
}

const countLines = (text) => text.split('\n').length - 1;

/** Without the comment that names its own source map. */
const withoutMap = (code) => code.replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n');

/** A module that exports what this one did. It is asked for after the script has run, or runs it. */
function facadeOf(file, { exported, name, loader, isFirst }) {
  const to = path.posix.relative(path.posix.dirname(file), loader);
  const run = `import{runScript}from${JSON.stringify(to)};const{modules,keepCode}=runScript(new URL("./${name}",import.meta.url),(name)=>import(name));`;
  const find = `import{modules}from${JSON.stringify(to)};`;
  const kept = exported.filter((one) => !isFirst || one.name !== 'keepCode');
  const pairs = kept.map((one, n) => [`${JSON.stringify(one.name)}:v${n}`, `v${n} as ${JSON.stringify(one.name)}`]);
  const reads = `const{${pairs.map(([read]) => read)}}=modules[${JSON.stringify(file)}];`;
  const writes = `export{${[...pairs.map(([, write]) => write), ...(isFirst ? ['keepCode'] : [])]}};`;
  return `${isFirst ? run : find}${reads}${writes}\n`;
}
