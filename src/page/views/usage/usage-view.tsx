import { useEffect } from 'preact/hooks';
import type { UsageTotal } from '../../../../protocol/methods/usage.ts';
import type { BudgetState } from '../../../../protocol/run-outcome.ts';
import { amountOf } from '../../../../protocol/text/budget-words.ts';
import type { App, Desk } from '../../state/app.ts';
import { tabName } from '../../state/tab.ts';
import {
  groupingsFor,
  REPORT_DAYS,
  type Report,
  type ReportDays,
  type ReportGrouping,
  type ReportUnit,
  toBars,
} from '../../state/usage/usage-report.ts';
import { Panel } from '../panel.tsx';
import { UsageBar } from './usage-bar.tsx';

/** The tokens and the money that models used. */
export function UsageView({ app, desk }: { app: App; desk: Desk }) {
  const { usage } = desk;
  useEffect(() => void usage.read(), [usage]);
  const shown = usage.report.value;
  const unit = usage.unit.value;
  return (
    <Panel name="usage" title="Usage" count={`the last ${usage.days.value} days`} desk={desk}>
      <p class="problem" role="alert">
        {usage.problem.value}
      </p>
      <div class="usage-choices">
        <Choice
          label="Add up by"
          values={groupingsFor(app.who.value?.permissions ?? [])}
          chosen={usage.by.value}
          words={BY}
          choose={(by) => void usage.read(by)}
        />
        <Choice
          label="Time"
          values={REPORT_DAYS}
          chosen={usage.days.value}
          words={DAYS}
          choose={(days) => {
            usage.days.value = days;
            void usage.read();
          }}
        />
        <Choice
          label="Bars show"
          values={['tokens', 'usd']}
          chosen={unit}
          words={UNITS}
          choose={(next) => {
            usage.unit.value = next;
          }}
        />
      </div>
      {shown && shown.budgets.length > 0 && <Budgets budgets={shown.budgets} />}
      {shown?.rows.length === 0 && <p class="panel-none">No model has been used in this time.</p>}
      {shown && shown.rows.length > 0 && (
        <UsageTable report={shown} unit={unit} nameOf={(key) => nameOf(desk, shown.by, key)} />
      )}
    </Panel>
  );
}

const BY: Record<ReportGrouping, string> = {
  day: 'Day',
  model: 'Model',
  workstream: 'Workstream',
  hour: 'Hour',
  user: 'User',
};
const DAYS: Record<ReportDays, string> = { 7: '7 days', 30: '30 days', 90: '90 days' };
const UNITS: Record<ReportUnit, string> = { tokens: 'Tokens', usd: 'US$' };

interface ChoiceProps<T extends string> {
  label: string;
  values: readonly T[];
  chosen: T;
  words: Record<T, string>;
  choose(value: T): void;
}

function Choice<T extends string>({ label, values, chosen, words, choose }: ChoiceProps<T>) {
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

const Budgets = ({ budgets }: { budgets: readonly BudgetState[] }) => (
  <ul class="usage-budgets" aria-label="Budgets">
    {budgets.map((budget) => (
      <li key={`${budget.of} ${budget.key} ${budget.unit}`} class={budget.spent >= budget.limit ? 'over' : ''}>
        <span>{budget.of === 'day' ? 'Today' : `${budget.key} today`}</span>
        <meter min={0} max={budget.limit} value={Math.min(budget.spent, budget.limit)} />
        <span>{`${amountOf(budget.spent, budget)} of ${amountOf(budget.limit, budget)}`}</span>
      </li>
    ))}
  </ul>
);

interface TableProps {
  report: Report;
  unit: ReportUnit;
  nameOf(key: string): string;
}

function UsageTable({ report: { rows, by, total, truncated }, unit, nameOf }: TableProps) {
  const { bars, longest } = toBars(rows, unit);
  const unpriced = total?.unpricedTokens ?? 0;
  return (
    <>
      {unit === 'tokens' && (
        <p class="usage-legend">
          <i class="use-input" /> input <i class="use-cached" /> cached input <i class="use-output" /> output
        </p>
      )}
      <div class="usage-table">
        <table>
          <thead>
            <tr>
              {[BY[by], '', 'Turns', 'Input', 'Cached', 'Output', 'Reasoning', 'US$'].map((title, index) => (
                <th key={title} scope="col" class={index < 2 ? '' : index < 7 ? 'number detail' : 'number'}>
                  {title === '' ? <span class="hidden-text">Chart</span> : title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {bars.map(({ row, parts }) => (
              <tr key={row.key}>
                <th scope="row">{nameOf(row.key)}</th>
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

const Numbers = ({ of }: { of: UsageTotal }) => (
  <>
    {[of.turns, of.inputTokens, of.cacheReadTokens, of.outputTokens, of.reasoningTokens].map((count, index) => (
      <td key={index} class="number detail">
        {count.toLocaleString('en-US')}
      </td>
    ))}
    <td class="number">{of.costUsd.toFixed(2)}</td>
  </>
);

/** Open workstreams by their name. */
function nameOf({ workstreams }: Desk, by: ReportGrouping, key: string): string {
  const tab = by === 'workstream' ? workstreams.tabs.value.find(({ wsId }) => wsId === key) : undefined;
  return tab ? tabName(tab) : key;
}
