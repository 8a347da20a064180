import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GRAMMARS } from './grammars.ts';
import { createHighlighter, type Pieces } from './highlight.ts';
import { findFileLanguage, findLanguage, type Language } from './languages.ts';

const textOf = (lines: readonly Pieces[]) => lines.map((line) => line.map(({ text }) => text).join('')).join('\n');

test('a language is found by the name on its code block, in any case, ignoring text after it', () => {
  const names = [
    'TS',
    'c++',
    'python title="x"',
    'sh',
    'toml',
    'jsonc',
    'js {1,2}',
    'HTML',
    '',
    'nonsense',
    'toString',
  ];
  assert.deepEqual(names.map(findLanguage), [
    ...['typescript', 'cpp', 'python', 'bash', 'ini', 'json', 'javascript', 'xml'],
    ...[undefined, undefined, undefined],
  ]);
});

test('a file’s language is found by its ending or its name', () => {
  const files = ['src/a.test.ts', 'Makefile', 'x/Dockerfile', '.env', 'go.mod', 'README', 'a.b/notes', 'lib.rs'];
  assert.deepEqual(files.map(findFileLanguage), [
    ...['typescript', 'makefile', 'dockerfile', 'bash', 'go', undefined, undefined, 'rust'],
  ]);
});

test('code is highlighted line by line, including multi-line tokens and embedded languages', () => {
  const highlighter = createHighlighter();
  assert.deepEqual(highlighter.highlight('/* a\nb */ let x;', 'javascript'), [
    [{ text: '/* a', className: 'hljs-comment' }],
    [
      { text: 'b */', className: 'hljs-comment' },
      { text: ' ', className: undefined },
      { text: 'let', className: 'hljs-keyword' },
      { text: ' x;', className: undefined },
    ],
  ]);
  const page = highlighter.highlight('<script>let x;</script>', 'xml')?.flat();
  assert.ok(page?.some(({ text, className }) => text === 'let' && className === 'hljs-keyword'));
});

test('the grammars of our own have comments, strings, keywords and names', () => {
  const marked = (text: string, language: Language) =>
    createHighlighter()
      .highlight(text, language)
      ?.flat()
      .flatMap(({ text: piece, className = '' }) => (className === '' ? [] : [`${className.slice(5)}: ${piece}`]));
  assert.deepEqual(marked('@main struct A { let x = "a\\"" /* 1 /* 2 */ */ }', 'swift'), [
    ...['meta: @main', 'keyword: struct', 'type: A', 'keyword: let', 'string: "a\\""'],
    ...['comment: /* 1 ', 'comment: /* 2 */', 'comment:  */'],
  ]);
  const sheet = '@media print { a.b#c:hover, [x="y"] { --w: 2px; color: #fff; margin: calc(1em + var(--w)) } }';
  assert.deepEqual(marked(sheet, 'css'), [
    ...['keyword: @media', 'selector-tag: print', 'selector-tag: a', 'selector-class: .b', 'selector-id: #c'],
    ...['selector-pseudo: :hover', 'selector-attr: [x=', 'string: "y"', 'selector-attr: ]'],
    ...['attribute: --w', 'number: 2px', 'attribute: color', 'number: #fff'],
    ...['attribute: margin', 'built_in: calc', 'number: 1em', 'built_in: var', 'variable: --w'],
  ]);
  assert.deepEqual(marked('if ($x -eq $null) { Get-Item "a $x" } # end', 'powershell'), [
    ...['keyword: if', 'variable: $x', 'operator: -eq', 'literal: $null', 'built_in: Get-Item'],
    ...['string: "a ', 'variable: $x', 'string: "', 'comment: # end'],
  ]);
});

test('highlighting never adds or loses a character', () => {
  const highlighter = createHighlighter();
  const languages = Object.keys(GRAMMARS).flatMap((name) => findLanguage(name) ?? []);
  const code = fc
    .array(fc.constantFrom('<', '/*', '*/', '"', "'", '`', '\n', '#', '{', '}', '&amp;', 'if', ' ', '\\', '$('))
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(code, fc.constantFrom<Language>(...languages), (text, language) => {
      assert.equal(textOf(highlighter.highlight(text, language) ?? []), text);
    }),
  );
});

test('highlighted code is cached, long code stays plain', () => {
  const highlighter = createHighlighter();
  assert.equal(highlighter.find('let x', 'typescript'), undefined);
  const lines = highlighter.highlight('let x', 'typescript');
  assert.equal(highlighter.find('let x', 'typescript'), lines);
  assert.equal(highlighter.find('let x', 'javascript'), undefined);
  assert.equal(highlighter.highlight('x\n'.repeat(20_000), 'typescript'), undefined);
});

test('the cache is limited; the least recently used text is dropped first', () => {
  const highlighter = createHighlighter();
  for (let n = 0; n < 200; n += 1) highlighter.highlight(`${n}`, 'json');
  highlighter.find('0', 'json');
  highlighter.highlight('one more', 'json');
  assert.deepEqual(
    ['0', '1', '2'].map((text) => highlighter.find(text, 'json') !== undefined),
    [true, false, true],
  );
});
