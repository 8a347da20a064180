import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { after, test } from 'node:test';
import { launched } from '../support/clients/browser-profiles.ts';
import { type GeometryRules, geometryProblems } from '../support/views/geometry.ts';
import { VIEWS } from '../support/views/views.ts';
import type { View } from '../support/views/ways.ts';
import { baselineVersion, compareView } from './baselines.ts';
import { openViewStage } from './stage.ts';
import { groupsOf, visitViews, WIDTHS, widthsOf } from './visiting.ts';

const stage = await openViewStage();
after(() => stage[Symbol.asyncDispose]());

const RULES: GeometryRules = {
  aligned: [
    { selector: '.panel-body > :not(dialog, .panel-none, .usage-choice)', edges: ['left'] },
    { selector: '.panel-body > :not(dialog, .panel-none, .account-nav)', edges: ['right'] },
    { selector: '.panel-row', edges: ['left', 'right'] },
    { selector: '.tabs > li', edges: ['left', 'right'] },
  ],
  upright: '.panel-body, .dialog-scroll, .aside-scroll, .transcript, .rail, .tabs',
  mayCover: '',
  mayCut: '',
};

/** The same for each run of one build of the page, so that what fails fails again. Another build has another sample. */
const page = await readFile(new URL('../../dist/ui/index.html', import.meta.url));
const turn = createHash('sha256').update(page).digest().readUInt32BE(0);
/** A third of the views with their steps, and an eighth of the states: `npm run baselines` has all. */
const shareOf = (groups: readonly View[][], parts: number): Set<View> =>
  new Set(groups.filter((_, index) => Math.floor((index * parts) / groups.length) === turn % parts).flat());
const ofKind = (isState: boolean) => groupsOf(VIEWS.filter((view) => (view.isState ?? false) === isState));
const sample = new Set([...shareOf(ofKind(false), 3), ...shareOf(ofKind(true), 8)]);
const { VIEWS: only = '' } = process.env;
/** Every second width of the views of the sample; with `VIEWS=all`, each of each view, and with `VIEWS=WORD,WORD` each of some. */
const isLookedAt = (view: View, width: number): boolean =>
  only === 'all' ||
  (only !== '' && only.split(',').some((word) => view.name.includes(word))) ||
  (only === '' && sample.has(view) && (widthsOf(view).indexOf(width) + VIEWS.indexOf(view)) % 2 === (turn >>> 8) % 2);

/** One picture of each view: the widths and the colours in turn. Those of states depend on the widths before them, too. */
function sampleOf(view: View, width: number): 'light' | 'dark' | undefined {
  if (view.isState || view.isScrolled) return undefined;
  const index = VIEWS.indexOf(view);
  const widths = widthsOf(view).filter((one) => isLookedAt(view, one));
  if (width !== widths[index % widths.length]) return undefined;
  return Math.floor(index / WIDTHS.length) % 2 === 0 ? 'light' : 'dark';
}

test('no view overflows, overlaps, cuts text, has small targets or edges out of line, or differs from its picture', async (t) => {
  const isRecorded = (await baselineVersion()) === (await launched()).version();
  if (!isRecorded) t.diagnostic('pictures are not compared: this is not the version of Chromium that made them');
  const problems = new Map<string, string[]>();
  const differences: string[] = [];
  await visitViews(
    stage,
    async (page, view, width) => {
      for (const problem of await geometryProblems(page, RULES)) {
        const where = problems.get(problem) ?? [];
        problems.set(problem, [...where, `${view.name} at ${width}`]);
      }
      const theme = sampleOf(view, width);
      const difference = theme && isRecorded && (await compareView(stage, { page, view, width, theme }));
      if (difference) differences.push(difference);
    },
    isLookedAt,
  );
  const found = [...problems].map(([problem, where]) => `${problem} (${where.join(', ')})`);
  assert.deepEqual([...found, ...differences], []);
});

/** As decision 151 says. */
const [MOST_BYTES, MOST_OF_ALL] = [40_000, 15_000_000];

test('pictures are small files', async () => {
  const folder = path.join(import.meta.dirname, 'baselines');
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.png'));
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).size));
  const large = names.filter((_, index) => (sizes[index] ?? 0) > MOST_BYTES);
  assert.deepEqual(large, [], `larger than ${MOST_BYTES} bytes`);
  const sum = sizes.reduce((one, other) => one + other, 0);
  assert.ok(names.length > 0 && sum <= MOST_OF_ALL, `${names.length} pictures have ${sum} bytes`);
});
