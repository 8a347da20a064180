import assert from 'node:assert/strict';
import { test } from 'node:test';
import { render } from './render.ts';

const htmlOf = (markdown: string): string[] => render(markdown).map(({ formatted }) => formatted);

for (const [markdown, html] of [
  [
    '# Title\n\n**b** *i* ~~s~~ `c <` [l](https://e.x/?a=1&b="2")',
    '<b>Title</b>\n\n<b>b</b> <i>i</i> <s>s</s> <code>c &lt;</code> l (https://e.x/?a=1&amp;b=&quot;2&quot;)',
  ],
  ['[l](https://e.x/?a=1&b=2)', '<a href="https://e.x/?a=1&amp;b=2">l</a>'],
  ['**a *b `c` d* e**', '<b>a <i>b </i></b><code>c</code><b><i> d</i> e</b>'],
  ['a & b < c > d "e" &amp; &#65; <b>x</b>', 'a &amp; b &lt; c &gt; d &quot;e&quot; &amp; A &lt;b&gt;x&lt;/b&gt;'],
  ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  [
    '[x](javascript:alert(1)) [y](tg://user?id=1) ![pic](https://e.x/p.png)',
    'x (javascript:alert(1)) <a href="tg://user?id=1">y</a> <a href="https://e.x/p.png">pic</a>',
  ],
  ['https://e.x/a', '<a href="https://e.x/a">https://e.x/a</a>'],
  ['```ts\nif (a < b) {\n  c();\n}\n```', '<pre><code class="language-ts">if (a &lt; b) {\n  c();\n}</code></pre>'],
  ['```\nx\n```', '<pre>x</pre>'],
  ['> q **b**\n>\n> > deeper', '<blockquote>q <b>b</b>\n\ndeeper</blockquote>'],
  ['- a\n- b\n  - c\n- [x] d', '• a\n• b\n  • c\n• ☑ d'],
  ['3. a\n4. b', '3. a\n4. b'],
  ['| a | b |\n|---|--:|\n| **1** | 22 |', '<pre>a │  b\n──┼───\n1 │ 22</pre>'],
  ['a\n\n---\n\nb', 'a\n\n──────────\n\nb'],
  ['line\nnext', 'line\nnext'],
] as const)
  test(`${JSON.stringify(markdown)} in the HTML of Telegram`, () => {
    assert.deepEqual(htmlOf(markdown), [html]);
  });

test('an empty text is no message', () => {
  assert.deepEqual(render(' \n\n'), []);
});

test('the plain text of a link shows its address', () => {
  assert.deepEqual(
    render('[here](https://e.x/) https://e.y/ [**a** b](https://e.z/)').map(({ plain }) => plain),
    ['here (https://e.x/) https://e.y/ a b (https://e.z/)'],
  );
});

test('a long text is cut between paragraphs', () => {
  const paragraphs = Array.from({ length: 9 }, (_, index) => `${index}${'x'.repeat(999)}`);
  const chunks = render(paragraphs.join('\n\n')).map(({ plain }) => plain);
  assert.deepEqual(
    chunks,
    [paragraphs.slice(0, 4), paragraphs.slice(4, 8), paragraphs.slice(8)].map((part) => part.join('\n\n')),
  );
});

test('code that fits into a message is not cut, and stays with its heading', () => {
  const code = `\`\`\`ts\n${'const a = 1;\n'.repeat(250)}\`\`\``;
  const chunks = htmlOf(`${'word '.repeat(500)}\n\n## Code\n\n${code}`);
  assert.deepEqual(
    [chunks.length, chunks[1]?.startsWith('<b>Code</b>\n\n<pre><code class="language-ts">const')],
    [2, true],
  );
});

test('longer code is cut between lines, and each part is a block in its language', () => {
  const lines = Array.from({ length: 900 }, (_, index) => `  call(${index});`);
  const chunks = htmlOf(`\`\`\`ts\n${lines.join('\n')}\n\`\`\``);
  assert.ok(chunks.length > 1);
  const codes = chunks.map((html) => /^<pre><code class="language-ts">([^<]*)<\/code><\/pre>$/.exec(html)?.[1]);
  assert.equal(codes.join('\n'), lines.join('\n'));
});

test('a word that is too long is cut, but no character', () => {
  const chunks = render(`x${'😀'.repeat(3000)}`).map(({ plain }) => plain);
  assert.deepEqual(
    [chunks.length, chunks.join(''), chunks.every((chunk) => chunk.isWellFormed())],
    [2, `x${'😀'.repeat(3000)}`, true],
  );
});

test('formatting that is cut goes on in the next message', () => {
  const [first, second] = htmlOf(`**${'word '.repeat(1000).trim()}**`);
  assert.deepEqual([first?.slice(0, 7), first?.slice(-8), second?.slice(0, 7)], ['<b>word', 'word</b>', '<b>word']);
});

test('a message has at most 100 entities, because Telegram ignores further ones', () => {
  const chunks = htmlOf(Array.from({ length: 150 }, (_, index) => `**b${index}**`).join(' '));
  assert.deepEqual(
    chunks.map((html) => html.match(/<b>/g)?.length),
    [100, 50],
  );
});

test('text that is nested too deeply is shown', () => {
  const plain = render(`${'>'.repeat(20_000)} word`).map((chunk) => chunk.plain);
  assert.match(plain.at(-1) ?? '', /word$/);
});
