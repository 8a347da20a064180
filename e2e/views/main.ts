// `npm run baselines`: compares pictures of every view, in light and dark and at four widths, with the stored ones. With
// `-- --update` it makes new ones; with `-- --only WORD` only of views with this word in their name.
import { after, test } from 'node:test';
import { parseArgs } from 'node:util';
import { launched } from '../support/clients/browser-profiles.ts';
import type { Theme } from '../support/views/picture.ts';
import { VIEWS } from '../support/views/views.ts';
import { baselineVersion, compareView, finishUpdate, nameOf, updateView } from './baselines.ts';
import { openViewStage } from './stage.ts';
import { groupsOf, visitViews } from './visiting.ts';

const THEMES: readonly Theme[] = ['light', 'dark'];
const { values } = parseArgs({ options: { update: { type: 'boolean' }, only: { type: 'string', default: '' } } });

const stage = await openViewStage();
after(() => stage[Symbol.asyncDispose]());

test('pictures of all views', async (t) => {
  const browser = (await launched()).version();
  const version = await baselineVersion();
  if (!values.update && version !== browser)
    throw new Error(`The baselines were made by Chromium ${version ?? 'unknown'}, and this is ${browser}.`);
  const problems: string[] = [];
  const names = new Set<string>();
  let bytes = 0;
  const wanted = new Set(
    groupsOf(VIEWS)
      .filter((group) => group.some(({ name }) => values.only.split(',').some((word) => name.includes(word))))
      .flat(),
  );
  await visitViews(
    stage,
    async (page, view, width) => {
      for (const theme of THEMES) {
        const shown = { page, view, width, theme };
        names.add(nameOf(shown));
        if (values.update) bytes += await updateView(stage, shown);
        else problems.push(...[await compareView(stage, shown)].filter((one) => one !== undefined));
      }
    },
    (view) => wanted.has(view),
  );
  if (values.update && values.only === '') await finishUpdate(browser, names);
  t.diagnostic(`${names.size} pictures${values.update ? `, ${Math.round(bytes / 1024)} kB` : ''}`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
});
