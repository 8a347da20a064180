import assert from 'node:assert/strict';
import { test } from 'node:test';
import vm from 'node:vm';
import { linkParts } from './link-parts.js';

const link = (codes: Record<string, string>) =>
  linkParts(Object.entries(codes).map(([name, code]) => ({ name, fileName: `${name}-x1.js`, code })));

test('linked scripts find the exports of each other by name, and load parts by name', () => {
  const { shell, parts } = link({
    shell:
      'import{one}from"./icons-x1.js";const f=()=>import(`./list-x1.js`).then(m=>m.sum);export{one as a,f as "b-c"};',
    list: 'import{a as e,"b-c"as f}from"./shell-x1.js";import{two as t}from"./rows-x1.js";const s=()=>e+t;export{s as sum,f as more};',
    rows: 'import"./icons-x1.js";let two=2;export{two};',
    icons: 'var one=1;export{one};',
  });
  assert.deepEqual(
    parts.map(({ name, needs }) => [name, needs]),
    [
      ['list', ['rows']],
      ['rows', []],
    ],
  );
  const context = vm.createContext({});
  vm.runInContext(shell, context);
  const { headgate } = context;
  headgate.load = async (name: string) => {
    loaded.push(name);
    return headgate.parts[name];
  };
  const loaded: string[] = [];
  for (const { code } of parts.toReversed()) vm.runInContext(code, context);
  assert.equal(headgate.parts.list.sum(), 3);
  headgate.parts.list.more();
  assert.deepEqual(loaded, ['list']);
});

test('a script that cannot be linked stops the build', () => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ shell: 'import{a}from"./b-x1.js";', b: 'import{c}from"./shell-x1.js";' }, /import each other: shell, b, shell/],
    [{ shell: '', list: 'import{a}from"preact";a();' }, /preact is no part of the page/],
    [{ shell: 'export default 1;' }, /shell: cannot link ExportDefaultDeclaration/],
    [{ shell: '', list: 'import*as a from"./shell-x1.js";a();' }, /cannot link ImportNamespaceSpecifier/],
  ];
  for (const [codes, words] of wrong) assert.throws(() => link(codes), words);
});
