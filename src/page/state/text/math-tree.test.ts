import assert from 'node:assert/strict';
import { test } from 'node:test';
import katex from 'katex';
import { parseHTML } from 'linkedom';
import { type MathNode, toMathTree } from './math-tree.ts';

const treeOf = (html: string) => {
  const { document } = parseHTML(`<body>${html}</body>`);
  return toMathTree(document.querySelector('math') ?? assert.fail('no formula'));
};

const toText = (node: MathNode | string | undefined): string =>
  typeof node === 'object' ? `${node.tag}(${node.children.map(toText).join(' ')})` : (node ?? '');

test('a formula keeps its structure, and loses the source text beside it', () => {
  const tree = treeOf(katex.renderToString('\\frac{a}{2}', { output: 'mathml' }));
  assert.equal(toText(tree), 'math(semantics(mrow(mfrac(mi(a) mn(2)))))');
});

const variable = (letter: string): MathNode => ({
  tag: 'mi',
  attributes: { mathvariant: 'normal', class: 'variable' },
  children: [letter],
});

test('letters stay letters that every font has', () => {
  const tree = treeOf(katex.renderToString('x \\in \\mathbb{R}', { output: 'mathml' }));
  assert.equal(toText(tree), 'math(semantics(mrow(mi(x) mo(∈) mi(ℝ))))');
});

const attributesIn = (node: MathNode | string | undefined, name: string): string[] =>
  typeof node === 'object'
    ? [node.attributes[name] ?? [], ...node.children.map((child) => attributesIn(child, name))].flat()
    : [];

test('letters are moved and enlarged a little, but not over what stands around the formula', () => {
  const moved = (tex: string) => attributesIn(treeOf(katex.renderToString(tex, { output: 'mathml' })), 'voffset');
  assert.deepEqual(moved('a\\raisebox{1em}{b}'), ['1em']);
  assert.deepEqual(moved('a\\raisebox{-60em}{b}'), []);
  assert.deepEqual(moved('a\\raisebox{3em}{b\\raisebox{3em}{c}}'), ['3em']);
  assert.deepEqual(moved('a\\raisebox{600pt}{b}'), []);
  const sized = attributesIn(
    treeOf(katex.renderToString('\\Huge a \\Huge b \\Huge c', { output: 'mathml' })),
    'mathsize',
  );
  assert.equal(sized.length, 1);
});

test('nothing but a formula gets through', () => {
  const tree = treeOf(
    '<math display="block" onclick="x()" style="color:red"><mrow href="javascript:x()"><mi class="c">a</mi><script>x()</script><img src="https://example.com/a.png"></mrow></math>',
  );
  assert.deepEqual(tree, {
    tag: 'math',
    attributes: { display: 'block' },
    children: [{ tag: 'mrow', attributes: {}, children: [variable('a')] }],
  });
});
