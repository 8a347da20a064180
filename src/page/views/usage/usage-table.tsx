import type { UsageTotal } from '../../../../protocol/methods/usage.ts';
import type { BudgetState } from '../../../../protocol/run-outcome.ts';
import { amountOf } from '../../../../protocol/text/budget-words.ts';
import { moneyOf } from '../../../../protocol/text/spending/spending-words.ts';
import type { Desk } from '../../state/app.ts';
import { tabName } from '../../state/tab.ts';
import {
  type Report,
  type ReportDays,
  type ReportGrouping,
  type ReportUnit,
  toBars,
} from '../../state/usage/usage-report.ts';
import { UsageBar } from './usage-bar.tsx';

export const BY: Record<ReportGrouping, string> = {
  day: 'Day',
  model: 'Model',
  workstream: 'Workstream',
  hour: 'Hour',
  user: 'User',
};
export const DAYS: Record<ReportDays, string> = { 7: '7 days', 30: '30 days', 90: '90 days' };
export const UNITS: Record<ReportUnit, string> = { tokens: 'Tokens', usd: 'US$' };

interface ChoiceProps<T extends string> {
  label: string;
  values: readonly T[];
  chosen: T;
  words: Record<T, string>;
  choose(value: T): void;
}

/** Buttons of which one is pressed. */
export function Choice<T extends string>({ label, values, chosen, words, choose }: ChoiceProps<T>) {
  return (
    <fieldset class="usage-choice">
      <legend class="hidden-text">{label}</legend>
      {values.map((value) => (
        <button key={value} type="button" class="quiet" aria-pressed={value === chosen} onClick={() => choose(value)}>
          {words[value]}
        </button>
      ))}
    </fieldset>
  );
}

interface BudgetsProps {
  budgets: readonly BudgetState[];
  actorWords(actor: string): string;
}

export const Budgets = ({ budgets, actorWords }: BudgetsProps) => (
  <ul class="usage-budgets" aria-label="Budgets">
    {budgets.map((budget) => (
      <li key={`${budget.of} ${budget.key} ${budget.unit}`} class={budget.spent >= budget.limit ? 'over' : ''}>
        <span>
          {budget.of === 'day' ? 'Today' : `${budget.of === 'principal' ? actorWords(budget.key) : budget.key} today`}
        </span>
        <meter min={0} max={budget.limit} value={Math.min(budget.spent, budget.limit)} />
        <span>{`${amountOf(budget.spent, budget)} of ${amountOf(budget.limit, budget)}`}</span>
      </li>
    ))}
  </ul>
);

/** Those whose budgets these are. */
export const spendersOf = (budgets: readonly BudgetState[] = []): string[] =>
  budgets.flatMap(({ of, key }) => (of === 'principal' ? [key] : []));

interface TableProps {
  report: Report;
  unit: ReportUnit;
  nameOf(key: string): string;
  /** Limits the report to a row; absent where that is not possible. */
  only?: ((key: string) => void) | undefined;
}

/** The sums with their bars. */
export function UsageTable({ report: { rows, by, total, truncated }, unit, nameOf, only }: TableProps) {
  const { bars, longest } = toBars(rows, unit);
  const unpriced = total?.unpricedTokens ?? 0;
  return (
    <>
      {unit === 'tokens' && (
        <p class="usage-legend">
          <i class="use-input" /> input <i class="use-cached" /> cached input <i class="use-output" /> output
        </p>
      )}
      <div class={`usage-table of-${unit}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{BY[by]}</th>
              <th scope="col">
                <span class="hidden-text">Chart</span>
              </th>
              {COLUMNS.map(([title, kind]) => (
                <th key={title} scope="col" class={`number ${kind}`}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(({ row, parts }) => (
              <tr key={row.key}>
                <th scope="row">
                  {only ? (
                    <button type="button" class="quiet" title="Show only this, by day" onClick={() => only(row.key)}>
                      {nameOf(row.key)}
                    </button>
                  ) : (
                    nameOf(row.key)
                  )}
                </th>
                <td class="usage-cell">
                  <UsageBar parts={parts} longest={longest} />
                </td>
                <Numbers of={row} />
              </tr>
            ))}
          </tbody>
          {total && (
            <tfoot>
              <tr>
                <th scope="row">All</th>
                <td class="usage-cell" />
                <Numbers of={total} />
              </tr>
            </tfoot>
          )}
        </table>
      </div>
      {truncated && (
        <p class="usage-legend">
          {`Only the latest ${rows.length.toLocaleString('en-US')} are shown; "All" has the others, too.`}
        </p>
      )}
      {unpriced > 0 && (
        <p class="usage-legend">
          {`${unpriced.toLocaleString('en-US')} tokens have no price: set models.<alias>.price in config.json.`}
        </p>
      )}
    </>
  );
}

/** A phone has room for one number: `brief` is shown only there, for bars of tokens, and `detail` and `money` then are not. */
const COLUMNS = [
  ...['Turns', 'Input', 'Cached', 'Output', 'Reasoning'].map((title) => [title, 'detail'] as const),
  ['Tokens', 'brief'],
  ['US$', 'money'],
] as const;

const Numbers = ({ of }: { of: UsageTotal }) => (
  <>
    {[of.turns, of.inputTokens, of.cacheReadTokens, of.outputTokens, of.reasoningTokens].map((count, index) => (
      <td key={index} class="number detail">
        {count.toLocaleString('en-US')}
      </td>
    ))}
    <td class="number brief">{(of.inputTokens + of.outputTokens).toLocaleString('en-US')}</td>
    <td class="number money">{moneyOf(of.costUsd).replace('$', '')}</td>
  </>
);

/** Open workstreams and users by their name, hours as a time. */
export function nameOfKey({ workstreams }: Desk, { by, names }: Report, key: string): string {
  if (by === 'hour') return `${key.replace('T', ' ')}:00 UTC`;
  const tab = by === 'workstream' ? workstreams.tabs.value.find(({ wsId }) => wsId === key) : undefined;
  return tab ? tabName(tab) : (names.get(key) ?? key);
}
