import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { toMatchWords } from '../../../../protocol/text/rule-words.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { App, Desk } from '../../state/app.ts';
import { tabName } from '../../state/tab.ts';
import { toDistance, toMoment } from '../../state/text/moment.ts';
import { ReadingNotice } from '../reading-notice.tsx';
import { RemovableRow } from '../rows/removable-row.tsx';

/** The permission rules that the person may see, in the order in which they decide. */
export function RuleList({ app, desk }: { app: App; desk: Desk }) {
  const { rules: board } = desk.accounts;
  useEffect(() => void board.read(), [board]);
  const rules = board.rules.value;
  return (
    <section class="account-list" aria-labelledby="rules-title">
      <header>
        <h2 id="rules-title" tabIndex={-1}>
          Rules
        </h2>
        <span class="panel-count">{rules && rules.length > 1 ? `${rules.length} rules` : ''}</span>
      </header>
      <p class="soft">
        What runs, asks or is blocked, by what a call does. A rule that blocks stands above all others.
      </p>
      <ReadingNotice of={[board.reading]} />
      {rules?.length === 0 && <p class="empty">No rules. “Always allow…” on a question adds one.</p>}
      <ul aria-label="Rules">
        {rules?.map((rule) => (
          <RuleRow key={rule.ruleId} app={app} desk={desk} rule={rule} />
        ))}
      </ul>
    </section>
  );
}

const VERBS: Record<Rule['action'], string> = { allow: 'Allows', ask: 'Asks about', deny: 'Blocks' };

function RuleRow({ app, desk, rule }: { app: App; desk: Desk; rule: Rule }) {
  const { rules: board } = desk.accounts;
  const tried = useSignal('');
  const title = `${VERBS[rule.action]} ${toMatchWords(rule.match)}`;
  const removal = {
    name: `“${title}”`,
    loss: 'and leave its calls to the other rules? This cannot be undone.',
    remove: () => board.remove(rule.ruleId),
    focusAfter: 'rules-title',
  };
  return (
    <RemovableRow class="panel-row" removal={app.rights.decide.value ? removal : undefined}>
      {(removeButton) => (
        <>
          <div class="account-row">
            <div class="node-what">
              <h3>{title}</h3>
              <p class="account-facts">{[toPlace(rule, desk), ...toFacts(rule, app.now())].join(' · ')}</p>
            </div>
            <div class="row-actions">
              <button
                type="button"
                class="quiet"
                aria-label={`Try without ${removal.name}`}
                onClick={() =>
                  void board.tryWithout(rule.ruleId).then((words) => {
                    tried.value = words;
                  })
                }
              >
                Try without
              </button>
              {removeButton}
            </div>
          </div>
          <p class="verdict account-facts" role="status">
            {tried.value}
          </p>
        </>
      )}
    </RemovableRow>
  );
}

function toPlace({ wsId, folder, userId }: Rule, desk: Desk): string {
  const tab = desk.workstreams.tabs.value.find((one) => one.wsId === wsId);
  const parts = [
    ...(wsId === undefined ? [] : [`in ${toVisibleLine(tab ? tabName(tab) : wsId)}`]),
    ...(folder === undefined ? [] : [`below ${toVisibleLine(folder)}`]),
    ...(userId === undefined ? [] : [userId === '' ? 'for the operator' : `for ${toVisibleLine(userId)}`]),
  ];
  return parts.length === 0 ? 'everywhere' : parts.join(', ');
}

const toFacts = ({ createdBy, createdAtMs, given, expiresAtMs, uses, usedAtMs, priority }: Rule, now: number) => [
  `given by ${toVisibleLine(createdBy)} ${toMoment(createdAtMs, now)}${given ? ', with a decision' : ''}`,
  expiresAtMs === undefined ? 'no end' : `ends ${toDistance(expiresAtMs, now)}`,
  usedAtMs === undefined ? 'never used' : `used ${uses} times, last ${toMoment(usedAtMs, now)}`,
  ...(priority === 0 ? [] : [`priority ${priority}`]),
];
