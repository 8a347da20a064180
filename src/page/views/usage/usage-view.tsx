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
  type ReportFilter,
  type ReportGrouping,
  type ReportUnit,
  toBars,
  type UsageReport,
  usageOf,
} from '../../state/usage/usage-report.ts';
import { Icon } from '../icons.tsx';
import { Panel } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { UsageBar } from './usage-bar.tsx';

/** The tokens and the money that models used. */
export function UsageView({ app, desk }: { app: App; desk: Desk }) {
  const usage = usageOf(desk);
  useEffect(() => void usage.read(), [usage]);
  const shown = usage.report.value;
  const unit = usage.unit.value;
  const permissions = app.who.value?.permissions ?? [];
  return (
    <Panel name="usage" title="Usage" count={`the last ${usage.days.value} days`} desk={desk}>
      <ReadingNotice of={[usage.reading]} />
      <div class="usage-choices">
        <Choice
          label="Add up by"
          values={groupingsFor(permissions, usage.filter.value)}
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
      <Filters usage={usage} />
      {shown && shown.budgets.length > 0 && <Budgets budgets={shown.budgets} />}
      {shown?.rows.length === 0 && <p class="panel-none">No model has been used in this time.</p>}
      {shown && shown.rows.length > 0 && (
        <UsageTable
          report={shown}
          unit={unit}
          nameOf={(key) => nameOf(desk, shown, key)}
          only={permissions.includes('admin.usage') ? onlyOf(usage, shown) : undefined}
        />
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

/** What the report is limited to, with buttons that show everything again. */
function Filters({ usage }: { usage: UsageReport }) {
  const { user, model } = usage.filter.value;
  const chips = [
    ...(user ? [{ words: `Only ${user.name}`, rest: model === undefined ? {} : { model } }] : []),
    ...(model === undefined ? [] : [{ words: `Only ${model}`, rest: user ? { user } : {} }]),
  ];
  if (chips.length === 0) return null;
  return (
    <ul class="usage-choices usage-filters" aria-label="Filters">
      {chips.map(({ words, rest }) => (
        <li key={words} class="fact">
          <bdi>{words}</bdi>
          <button
            type="button"
            class="quiet icon-only"
            aria-label={`Remove “${words}”`}
            title="Remove"
            onClick={() => narrow(usage, rest)}
          >
            <Icon name="close" />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The pressed button disappears, so the focus goes to the title. */
function narrow(usage: UsageReport, filter: ReportFilter): void {
  document.getElementById('usage-title')?.focus();
  void usage.only(filter);
}

/** Limits the report to one row of it; undefined where rows are neither users nor models. */
function onlyOf(usage: UsageReport, { by, names }: Report): ((key: string) => void) | undefined {
  const { value: filter } = usage.filter;
  if (by === 'model') return (model) => narrow(usage, { ...filter, model });
  if (by === 'user') return (id) => narrow(usage, { ...filter, user: { id, name: names.get(id) ?? id } });
  return undefined;
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
  only: ((key: string) => void) | undefined;
}

function UsageTable({ report: { rows, by, total, truncated }, unit, nameOf, only }: TableProps) {
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
    <td class="number money">{of.costUsd.toFixed(2)}</td>
  </>
);

/** Open workstreams and users by their name, hours as a time. */
function nameOf({ workstreams }: Desk, { by, names }: Report, key: string): string {
  if (by === 'hour') return `${key.replace('T', ' ')}:00 UTC`;
  const tab = by === 'workstream' ? workstreams.tabs.value.find(({ wsId }) => wsId === key) : undefined;
  return tab ? tabName(tab) : (names.get(key) ?? key);
}
