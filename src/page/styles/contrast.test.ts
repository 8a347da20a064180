import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const css = readFileSync(new URL('tokens.css', import.meta.url), 'utf8');

type Scheme = 'light' | 'dark';

/** The colours of a scheme by their names, with those of high contrast if it is on. */
function coloursOf(scheme: Scheme, contrast: 'normal' | 'more'): Map<string, string> {
  const [usual = '', more = ''] = css.split(':root[data-contrast="more"]');
  const texts = contrast === 'more' ? [usual, more.slice(0, more.indexOf('}'))] : [usual];
  const pairs = texts.flatMap((text) => [
    ...text.matchAll(/--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g),
  ]);
  return new Map(pairs.map(([, name = '', light = '', dark = '']) => [name, scheme === 'light' ? light : dark]));
}

/** WCAG 2.2: the relative luminance of `#rrggbb`. */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ratioOf(one: string, other: string): number {
  const [low = 0, high = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const SURFACES = ['paper', 'rail', 'raised', 'sunken'];
const CODE = ['keyword', 'string', 'number', 'title', 'type', 'comment', 'attribute'].map((name) => `code-${name}`);
const TERMINAL = Array.from({ length: 16 }, (_, index) => `ansi-${index}`);

/** Which colours text has on which surfaces. */
const TEXT: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['ink', 'soft', 'accent-strong', 'amber', 'red', 'blue', 'added', 'removed'], SURFACES],
  [['ink', 'accent-strong', 'soft'], ['accent-wash']],
  [['ink', 'amber'], ['amber-wash']],
  [['ink', 'red'], ['red-wash']],
  [['ink', 'added', ...CODE], ['added-wash']],
  [['ink', 'removed', ...CODE], ['removed-wash']],
  [['ink'], ['found']],
  [['on-accent'], ['accent', 'accent-strong']],
  [CODE, ['paper', 'sunken']],
  [TERMINAL, ['sunken']],
];

/** What a person must see of a control: the edge of a field, a switch, the focus, marks and bars. */
const CONTROLS: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['line-field', 'accent', 'amber', 'red', 'blue', 'soft'], SURFACES],
];

function findWeak(pairs: typeof TEXT, least: number, contrast: 'normal' | 'more'): string[] {
  return (['light', 'dark'] as const).flatMap((scheme) => {
    const colours = coloursOf(scheme, contrast);
    const colour = (name: string) => colours.get(name) ?? assert.fail(`no token --${name}`);
    return pairs.flatMap(([fronts, backs]) =>
      fronts.flatMap((front) =>
        backs.flatMap((back) => {
          const ratio = ratioOf(colour(front), colour(back));
          return ratio >= least ? [] : [`${scheme}: --${front} on --${back} has ${ratio.toFixed(2)}:1`];
        }),
      ),
    );
  });
}

test('text has a contrast of 4.5:1 on every surface, and of 7:1 in high contrast', () => {
  assert.deepEqual(findWeak(TEXT, 4.5, 'normal'), []);
  assert.deepEqual(findWeak(TEXT, 7, 'more'), []);
});

test('controls have a contrast of 3:1 to every surface, and the lines of high contrast, too', () => {
  assert.deepEqual(findWeak(CONTROLS, 3, 'normal'), []);
  const lines = ['line', 'line-strong', 'amber-line', 'red-line'];
  assert.deepEqual(findWeak([...CONTROLS, [lines, SURFACES]], 3, 'more'), []);
});

test('the ratios are those of WCAG', () => {
  assert.equal(ratioOf('#000000', '#ffffff'), 21);
  assert.equal(ratioOf('#777777', '#ffffff').toFixed(2), '4.48');
});
