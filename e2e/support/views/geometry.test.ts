import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launched } from '../clients/browser-profiles.ts';
import { geometryProblems } from './geometry.ts';
import { compare, readPng, reduce, toPng } from './picture.ts';

const RULES = {
  aligned: [{ selector: 'li', edges: ['left'] }],
  upright: '.upright',
  mayCover: '',
  mayCut: '',
} as const;
const PAGE = `<style>
  * { margin: 0; padding: 0; font: 16px/20px sans-serif; border: 0 }
  body { width: 300px } div { width: 200px; position: relative } button { width: 40px; height: 30px }
</style>`;

/** Each defect with what is said about it, and the same without the defect. */
const DEFECTS: readonly (readonly [string, RegExp, string])[] = [
  ['<p style="width: 900px">wide</p>', /^the page is \d+ px wider than the window$/, '<p>wide</p>'],
  [
    '<div><p style="width: 250px">spills</p></div>',
    /^the contents of <div> “spills” are 50 px too wide$/,
    '<div style="overflow-x: auto"><p style="width: 250px">scrolls</p></div>',
  ],
  [
    '<div class="upright" style="overflow-y: auto"><p style="width: 250px">scrolls</p></div>',
    /^the contents of <div\.upright> “scrolls” are 50 px too wide$/,
    '<div class="upright" style="overflow-y: auto"><p>scrolls</p></div>',
  ],
  [
    '<div style="overflow: hidden; white-space: nowrap">a text that is far too long for its place</div>',
    /^<div> “a text that is.*” cuts off \d+ px at its side$/,
    '<div style="overflow: hidden; white-space: nowrap; text-overflow: ellipsis">a text that is far too long for it</div>',
  ],
  [
    '<div style="overflow: hidden; height: 20px">one<br>two</div>',
    /^<div> “one” cuts off \d+ px at its bottom$/,
    '<div style="overflow: auto; height: 20px">one<br>two</div>',
  ],
  [
    '<button>A</button><button style="margin-left: -20px">B</button>',
    /^<button> “A” and <button> “B” overlap by 20 × 30 px$/,
    '<button>A</button><button>B</button>',
  ],
  [
    '<button style="width: 20px; height: 20px">A</button><button>B</button>',
    /^<button> “A” is only 20 × 20 px$/,
    '<button style="width: 20px; height: 20px; margin: 9px">A</button><button>B</button><p>in <a href="#">a line</a></p>',
  ],
  [
    '<ul><li>a</li><li style="margin-left: 3px">b</li></ul>',
    /^<li> “b” is 3 px off the left edge of its list$/,
    '<ul><li>a</li></ul>',
  ],
];

test('each defect of the geometry is found, and what only looks like one is not', async () => {
  await using page = await (await launched()).newPage({ viewport: { width: 400, height: 300 } });
  for (const [defect, words, sound] of DEFECTS) {
    await page.setContent(PAGE + defect);
    const [first = '', ...more] = await geometryProblems(page, RULES);
    assert.match(first, words);
    assert.deepEqual(more.length > 1 ? more : [], [], 'one defect has one sentence, or another about the page');
    await page.setContent(PAGE + sound);
    assert.deepEqual(await geometryProblems(page, RULES), []);
  }
});

test('a picture survives its file; a shift by a pixel and another size are differences', async () => {
  await using page = await (await launched()).newPage({ viewport: { width: 400, height: 300 } });
  const take = async (html: string) => {
    await page.setContent(html);
    return reduce(readPng(await page.screenshot()));
  };
  const text = (left: number) =>
    `${PAGE}<p style="margin: 40px ${left}px; color: #0b7a68">When does it need water?</p>`;
  const before = await take(text(40));
  assert.deepEqual(compare(readPng(toPng(before)), before).pixels, 0);
  assert.deepEqual(compare(before, await take(text(40))).pixels, 0);
  assert.ok(compare(before, await take(text(41))).pixels > 12);
  await page.setViewportSize({ width: 400, height: 310 });
  assert.equal(compare(before, await take(text(40))).pixels, 200 * 150);
});
