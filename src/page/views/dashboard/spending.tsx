import { moneyOf } from '../../../../protocol/text/spending/spending-words.ts';
import type { App, Desk } from '../../state/app.ts';
import { daysBefore, toDayWords } from '../../state/dashboard/board-figures.ts';
import type { Dashboard } from '../../state/dashboard/dashboard.ts';
import {
  groupingsFor,
  REPORT_DAYS,
  type Report,
  type ReportGrouping,
  type ReportUnit,
} from '../../state/usage/usage-report.ts';
import { useActors } from '../rows/use-actors.ts';
import { Budgets, BY, Choice, DAYS, nameOfKey, spendersOf, UNITS, UsageTable } from '../usage/usage-table.tsx';
import { ColumnChart } from './column-chart.tsx';

/** The rows with the most money or tokens. */
const MOST_ROWS = 8;

/** Tokens and money: today against the budgets, per day, and who used them. */
export function Spending({ app, desk, board }: { app: App; desk: Desk; board: Dashboard }) {
  const { days, shares } = board;
  const report = days.report.value;
  const unit = days.unit.value;
  const actorWords = useActors(app, desk, spendersOf(report?.budgets));
  const chosen = shares.report.value;
  const groupings = groupingsFor(app.who.value?.permissions ?? [], {}).filter(isShare);
  return (
    <section class="board-part" aria-labelledby="board-spending">
      <h2 id="board-spending">Tokens and money</h2>
      {report && <Today report={report} />}
      {report && report.budgets.length > 0 && <Budgets budgets={report.budgets} actorWords={actorWords} />}
      <div class="usage-choices">
        <Choice
          label="Time"
          values={REPORT_DAYS}
          chosen={days.days.value}
          words={DAYS}
          choose={(next) => {
            days.days.value = next;
            shares.days.value = next;
            void board.read();
          }}
        />
        <Choice
          label="Charts show"
          values={['tokens', 'usd']}
          chosen={unit}
          words={UNITS}
          choose={(next) => {
            days.unit.value = next;
            shares.unit.value = next;
          }}
        />
        <Choice
          label="Add up by"
          values={groupings}
          chosen={shares.by.value}
          words={BY}
          choose={(by) => void shares.read(by)}
        />
      </div>
      {report?.rows.length === 0 && (
        <p class="panel-none">No model has been used in this time. Send a message in a workstream to begin.</p>
      )}
      {report && report.rows.length > 0 && (
        <>
          <DayChart report={report} unit={unit} />
          {chosen && (
            <UsageTable report={mostOf(chosen, unit)} unit={unit} nameOf={(key) => nameOfKey(desk, chosen, key)} />
          )}
          <details>
            <summary>Each day as a table</summary>
            <UsageTable report={report} unit={unit} nameOf={(key) => key} />
          </details>
          <p>
            <button
              type="button"
              class="quiet link"
              onClick={() => {
                desk.workstreams.shown.value = 'usage';
              }}
            >
              All rows and filters are under Usage
            </button>
          </p>
        </>
      )}
    </section>
  );
}

const isShare = (by: ReportGrouping): boolean => by !== 'day' && by !== 'hour';

function Today({ report }: { report: Report }) {
  const today = report.rows.at(-1);
  return <p class="board-lead">{`Today (UTC): ${today ? toDayWords(today) : 'nothing'}`}</p>;
}

function DayChart({ report: { rows }, unit }: { report: Report; unit: ReportUnit }) {
  const before = daysBefore(rows.map(({ key }) => key));
  const days = [...before, ...rows.map(({ key }) => key)];
  const values = [...before.map(() => 0), ...rows.map((row) => amountIn(row, unit))];
  const words = (value: number) => (unit === 'usd' ? moneyOf(value) : `${value.toLocaleString('en-US')} tokens`);
  return (
    <ColumnChart
      title={unit === 'usd' ? 'US$ per day (UTC)' : 'Tokens per day (UTC)'}
      values={values}
      words={(index) => `${days[index]}: ${words(values[index] ?? 0)}`}
      most={words(Math.max(...values))}
      from={days[0] ?? ''}
      until={days.at(-1) ?? ''}
    />
  );
}

const amountIn = (row: Report['rows'][number], unit: ReportUnit): number =>
  unit === 'usd' ? row.costUsd : row.inputTokens + row.outputTokens;

/** The rows that used most; the sum stays that of all. */
function mostOf(report: Report, unit: ReportUnit): Report {
  const rows = report.rows.toSorted((one, other) => amountIn(other, unit) - amountIn(one, unit)).slice(0, MOST_ROWS);
  return { ...report, rows, truncated: false };
}
