import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Page } from 'playwright-core';
import { visit } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { VIEWS } from '../support/views/views.ts';
import type { View } from '../support/views/ways.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());

/** The views of a new home, and how the hint of each of their empty lists begins. */
const HINTS: Readonly<Record<string, readonly string[]>> = {
  'first-steps': [],
  'empty-files': ['This folder is empty.'],
  'empty-saved': ['No saved conversations yet.'],
  'empty-dashboard': [
    ...['No question is open.', 'Nothing runs.', 'Nothing failed.'],
    ...['No model has been used in this time.', 'No other machine lends commands.', 'No chat service is set up.'],
  ],
  'empty-inbox': ['Nothing waits for you'],
  'empty-schedule': ['Nothing is scheduled'],
  'empty-nodes': ['No nodes are paired'],
  'empty-channels': [
    'Set up a chat service first.',
    'Nothing has been sent to a chat yet.',
    'No webhook is configured.',
  ],
  'empty-usage': ['No model has been used in this time.'],
  'empty-agent-watches': ['No watch is active.'],
  'empty-agent-memories': ['No memories yet.'],
  'empty-agent-skills': ['No skills yet.'],
  'empty-agent-tool-servers': ['No tool servers yet.'],
  'account-my-account': ['You have no tokens.'],
  'account-rules': ['No rules yet.'],
  'account-users': ['No users yet.'],
  'account-roles': [],
  'account-tool-policies': ['No policies'],
  'account-judge': ['No record matches.'],
  'account-settings': [],
  'account-audit-trail': [],
};

/** Hints that may be gone already: the daemon takes a sample each minute. */
const PASSING = ['The first sample comes within a minute.'];

/** What comes a moment later in views that are not empty. */
const LATER: Readonly<Record<string, string>> = {
  'account-roles': '[aria-label="Roles"] > li',
  'account-settings': '.panel-body section li',
  'account-audit-trail': '.audit-event', // of the login
};

const isOfNewHome = ({ name, of, isOut, isState }: View): boolean =>
  of === 'empty' ? !isOut && !name.startsWith('first-steps-') : !isState && name.startsWith('account-');

test('every empty view of a new home teaches: each empty list has a heading, and a sentence or an action', async (t) => {
  const views = new Map(VIEWS.filter(isOfNewHome).map((view) => [view.name, view]));
  assert.deepEqual(new Set(views.keys()), new Set(Object.keys(HINTS)), 'every view is listed above');
  const { page } = await visit(t, daemon);
  const problems: string[] = [];
  for (const [name, hints] of Object.entries(HINTS)) {
    await views.get(name)?.open(page);
    await page
      .locator(LATER[name] ?? 'body')
      .first()
      .waitFor();
    for (const words of hints) await page.getByText(words).first().waitFor();
    const found = await page.evaluate(untaught, { hints, passing: PASSING });
    problems.push(...found.map((problem) => `${name}: ${problem}`));
    await closeDialog(page);
  }
  assert.deepEqual(problems, []);
});

/** Waits until it is gone, because the page ignores its shortcuts while a dialog is open. */
async function closeDialog(page: Page): Promise<void> {
  if ((await page.locator('dialog[open]').count()) > 0) await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
}

/** Runs in the page. */
function untaught({ hints: expected, passing }: { hints: readonly string[]; passing: readonly string[] }): string[] {
  const known = [...expected, ...passing];
  const area = document.querySelector('dialog[open]') ?? document.querySelector('main') ?? document.body;
  const isSeen = (element: Element) => element.getClientRects().length > 0;
  const textOf = (element: Element) => (element.textContent ?? '').trim().replace(/\s+/g, ' ');
  const partOf = (element: Element) => element.closest('section, .board-card, aside, dialog, main') ?? document.body;
  /** The hints, and other words that stand for an empty list. */
  const hints = new Set(area.querySelectorAll('.empty, .panel-none'));
  for (const element of area.querySelectorAll('p'))
    if (element.closest('.empty, .panel-none') === null && known.some((words) => textOf(element).startsWith(words)))
      hints.add(element);
  const shown = [...hints].filter(isSeen);
  const unknown = shown.filter((hint) => !known.some((words) => textOf(hint).startsWith(words)));
  const withoutWords = shown.filter((hint) => {
    // What only says that there is nothing does not count.
    const rest = textOf(hint).replace(/^(?:No|Nothing|Nobody|You have no)\b[^.:]*[.:]?/, '');
    const teaches = rest.split(' ').length >= 4 || partOf(hint).querySelector('button, a[href], code, form') !== null;
    return !teaches || partOf(hint).querySelector('h1, h2, h3') === null;
  });
  const bare = [...area.querySelectorAll('ul[aria-label], ol[aria-label]')].filter(
    (list) => list.children.length === 0 && !shown.some((hint) => partOf(list).contains(hint)),
  );
  return [
    ...expected
      .filter((words) => !shown.some((hint) => textOf(hint).startsWith(words)))
      .map((words) => `without “${words}”`),
    ...unknown.map((hint) => `an unlisted hint “${textOf(hint)}”`),
    ...withoutWords.map((hint) => `“${textOf(hint)}” teaches nothing`),
    ...bare.map((list) => `the list “${list.getAttribute('aria-label')}” is empty without a hint`),
  ];
}
