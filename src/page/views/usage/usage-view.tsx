import { useEffect } from 'preact/hooks';
import type { App, Desk } from '../../state/app.ts';
import {
  groupingsFor,
  REPORT_DAYS,
  type Report,
  type ReportFilter,
  type UsageReport,
  usageOf,
} from '../../state/usage/usage-report.ts';
import { Icon } from '../icons.tsx';
import { Panel } from '../panel.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { useActors } from '../rows/use-actors.ts';
import { Budgets, BY, Choice, DAYS, nameOfKey, spendersOf, UNITS, UsageTable } from './usage-table.tsx';

/** The tokens and the money that models used. */
export function UsageView({ app, desk }: { app: App; desk: Desk }) {
  const usage = usageOf(desk);
  useEffect(() => void usage.read(), [usage]);
  const shown = usage.report.value;
  const unit = usage.unit.value;
  const actorWords = useActors(app, desk, spendersOf(shown?.budgets));
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
      {shown && shown.budgets.length > 0 && <Budgets budgets={shown.budgets} actorWords={actorWords} />}
      {shown?.rows.length === 0 && (
        <p class="panel-none">No model has been used in this time. Send a message in a workstream to begin.</p>
      )}
      {shown && shown.rows.length > 0 && (
        <UsageTable
          report={shown}
          unit={unit}
          nameOf={(key) => nameOfKey(desk, shown, key)}
          only={permissions.includes('admin.usage') ? onlyOf(usage, shown) : undefined}
        />
      )}
    </Panel>
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
