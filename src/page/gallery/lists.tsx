import type { Report } from '../state/usage/usage-report.ts';
import styles from '../styles/dashboard.css?inline';
import { ColumnChart } from '../views/dashboard/column-chart.tsx';
import { adoptStyles } from '../views/parts/adopt-styles.ts';
import { RecordCard } from '../views/rows/record-card.tsx';
import { Budgets, UsageTable } from '../views/usage/usage-table.tsx';
import { Part } from './part.tsx';

adoptStyles(styles);

const VALUES = [3, 9, 4, 0, 12, 7, 5];
const nothing = async () => undefined;
const counts = {
  ...{ turns: 4, inputTokens: 41_000, cacheReadTokens: 30_000, cacheWriteTokens: 0, outputTokens: 900 },
  ...{ reasoningTokens: 100, costUsd: 0.05, unpricedTokens: 0 },
};
const REPORT: Report = {
  by: 'model',
  names: new Map(),
  truncated: false,
  budgets: [],
  total: counts,
  rows: [
    { ...counts, key: 'anthropic/claude' },
    { ...counts, key: 'local/llama', inputTokens: 9_000, cacheReadTokens: 0 },
  ],
};

/** Cards, tables, charts and what stands where a list would be. */
export function Lists() {
  return (
    <>
      <Part name="Cards of a list">
        <ul class="account-list">
          <RecordCard
            title="Grace Hopper"
            tags={['you']}
            facts="grace · Operator · last login just now"
            name="grace"
            onEdit={() => undefined}
            toggle={{ isOn: true, set: nothing }}
            removal={undefined}
          />
          <RecordCard
            title="no pushes"
            tags={['disabled']}
            facts="node* is blocked · priority 10"
            name="no pushes"
            onEdit={() => undefined}
            toggle={{ isOn: false, set: nothing }}
            removal={undefined}
          />
        </ul>
      </Part>
      <Part name="An empty list">
        <div class="account-list">
          <p class="empty">No rules yet. A rule says what runs, asks or is blocked.</p>
        </div>
      </Part>
      <Part name="Charts and tables">
        <ColumnChart
          title="Tokens per day"
          values={VALUES}
          words={(index) => `${VALUES[index]} tokens`}
          most="12 tokens"
          from="a week ago"
          until="today"
        />
        <Budgets budgets={[{ of: 'day', key: '', unit: 'usd', spent: 14, limit: 20 }]} actorWords={(actor) => actor} />
        <UsageTable report={REPORT} unit="tokens" nameOf={(key) => key} />
      </Part>
    </>
  );
}
