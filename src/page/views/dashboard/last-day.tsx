import type { Result } from '../../../../protocol/index.ts';
import type { HealthSample } from '../../../../protocol/methods/health.ts';
import { placeOf, toFacts, toHours } from '../../state/dashboard/board-figures.ts';

const WIDTH = 600;
const HEIGHT = 60;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

type History = Result<'health.history'>;

interface LastDayProps {
  /** Undefined until the first answer. */
  history: History | undefined;
  nowMs: number;
}

/** Lag, writes and the circuit of the last day. */
export function LastDay({ history, nowMs }: LastDayProps) {
  if (history === undefined) return null;
  const { samples, stepMinutes } = history;
  if (samples.length === 0) return <p class="panel-none">The first sample comes within a minute.</p>;
  const { lag, write, openSamples, fullSamples } = toFacts(samples);
  const minutes = (count: number) => `for up to ${count * stepMinutes} minutes`;
  return (
    <>
      <ul class="board-facts">
        {lag && <li>{`Event loop: at most ${lag.lagMs} ms late, ${timeOf(lag.atMs)}`}</li>}
        <li>
          {write
            ? `Store: the longest write took ${write.storeMs} ms, ${timeOf(write.atMs)}`
            : 'Store: nothing was written'}
        </li>
        <li>{openSamples === 0 ? 'Model: always reached' : `Model: not reached ${minutes(openSamples)}`}</li>
        {fullSamples > 0 && <li class="bad">{`Store: refused writes ${minutes(fullSamples)}`}</li>}
      </ul>
      <div class="board-charts">
        <Strip title="Event loop lag (ms)" history={history} nowMs={nowMs} amountOf={({ lagMs }) => lagMs} />
        <Strip title="Longest write (ms)" history={history} nowMs={nowMs} amountOf={({ storeMs = 0 }) => storeMs} />
        <Strip title="Event loop busy (%)" history={history} nowMs={nowMs} amountOf={({ busy }) => busy * 100} />
        <Circuit history={history} nowMs={nowMs} />
      </div>
      <details>
        <summary>Each hour as a table</summary>
        <Hours samples={samples} />
      </details>
    </>
  );
}

const timeOf = (atMs: number): string =>
  `about ${new Date(atMs).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' })}`;

interface StripProps {
  title: string;
  history: History;
  nowMs: number;
  amountOf(sample: HealthSample): number;
}

function Strip({ title, history, nowMs, amountOf }: StripProps) {
  const { samples, stepMinutes } = history;
  const most = Math.max(...samples.map(amountOf));
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="soft">{`at most ${most.toFixed(most < 10 ? 1 : 0)}`}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {samples.map((sample) => {
          const height = (amountOf(sample) / (most || 1)) * HEIGHT;
          return (
            <rect key={sample.atMs} {...placeIn(stepMinutes, sample.atMs, nowMs)} y={HEIGHT - height} height={height} />
          );
        })}
      </svg>
      <Axis />
    </figure>
  );
}

/** A sample that begins at a time is drawn around its middle. */
function placeIn(stepMinutes: number, atMs: number, nowMs: number): { x: number; width: number } {
  const width = (WIDTH * stepMinutes) / DAY_MINUTES;
  return { x: placeOf(atMs + (stepMinutes * MINUTE_MS) / 2, nowMs, WIDTH) - width / 2, width };
}

/** One colour per state; the facts above and the table below say the same in words. */
const Circuit = ({ history, nowMs }: { history: History; nowMs: number }) => (
  <figure class="chart">
    <figcaption>Model server</figcaption>
    <svg viewBox={`0 0 ${WIDTH} 12`} preserveAspectRatio="none" aria-hidden="true" class="circuit">
      {history.samples.map(({ atMs, circuit }) => (
        <rect key={atMs} class={circuit} {...placeIn(history.stepMinutes, atMs, nowMs)} y="0" height="12" />
      ))}
    </svg>
    <Axis />
  </figure>
);

const Axis = () => (
  <div class="chart-axis soft" aria-hidden="true">
    <span>24 h ago</span>
    <span>now</span>
  </div>
);

const CIRCUITS = { closed: 'reached', half_open: 'trying', open: 'not reached' };

const Hours = ({ samples }: { samples: readonly HealthSample[] }) => (
  <div class="board-table">
    <table>
      <thead>
        <tr>
          {['From', 'Lag (ms)', 'Write (ms)', 'Busy (%)', 'Model', 'Store'].map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {toHours(samples).map(({ atMs, lagMs, storeMs, busy, circuit, store }) => (
          <tr key={atMs}>
            <th scope="row">
              {new Date(atMs).toLocaleString(undefined, { weekday: 'short', hour: '2-digit', minute: '2-digit' })}
            </th>
            <td>{lagMs}</td>
            <td>{storeMs ?? '–'}</td>
            <td>{Math.round(busy * 100)}</td>
            <td>{CIRCUITS[circuit]}</td>
            <td>{store === 'ok' ? 'ok' : 'refused writes'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
