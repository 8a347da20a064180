import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHtml } from './parse-html.ts';

test('the text of a message is parsed as Telegram parses it', () => {
  const parsed = parseHtml(
    '<b>x &lt; <i>y</i></b>\n<pre><code class="language-ts">a &amp; b</code></pre> &nope; 😀<a href="https://e.x/?a=1&amp;b">l</a>  ',
  );
  assert.deepEqual(parsed, {
    text: 'x < y\na & b &nope; 😀l',
    entities: [
      { type: 'bold', offset: 0, length: 5 },
      { type: 'italic', offset: 4, length: 1 },
      { type: 'pre', offset: 6, length: 5, language: 'ts' },
      { type: 'text_link', offset: 21, length: 1, url: 'https://e.x/?a=1&b' },
    ],
  });
});

for (const [source, message] of [
  ['a <p>b</p>', 'Unsupported start tag "p" at byte offset 2'],
  ['ä <br>', 'Unsupported start tag "br" at byte offset 3'],
  ['<b>x', 'Can\'t find end tag corresponding to start tag "b"'],
  ['<b>x</i>', 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'],
  ['x</b>', 'Unexpected end tag at byte offset 1'],
  ['1 < 2', 'Unsupported start tag "" at byte offset 2'],
  ['<b', 'Unclosed start tag at byte offset 0'],
  ['<a href>x</a>', 'Expected equal sign in declaration of an attribute in the tag "a" at byte offset 3'],
  ['<span class="x">y</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
] as const)
  test(`${source} cannot be parsed`, () => {
    assert.throws(() => parseHtml(source), { message });
  });
