import type { StatusRecord } from '../../../../protocol/stream-events.ts';

/** Shows how full the model's context was after its last turn. */
export function TokenStatus({ status }: { status: StatusRecord | undefined }) {
  if (!status) return <span class="tokens" />;
  const { total_tokens: total, context_window: window, pct } = status;
  const known = window > 0;
  const words = known
    ? `${shorten(total)} of ${shorten(window)} tokens`
    : `${shorten(total)} token${total === 1 ? '' : 's'}`;
  return (
    <span class="tokens" title={toTitle(status)}>
      {known && <Ring pct={pct} />}
      {known && <span>{`${pct < 10 ? pct.toFixed(1) : Math.round(pct)} %`}</span>}
      <span class="token-words">{words}</span>
    </span>
  );
}

const Ring = ({ pct }: { pct: number }) => (
  <svg class={`ring ${pct > 80 ? 'full' : ''}`} viewBox="0 0 20 20" aria-hidden="true">
    <circle cx="10" cy="10" r="7.5" />
    <circle cx="10" cy="10" r="7.5" pathLength={100} stroke-dasharray={`${Math.min(100, pct)} 100`} />
  </svg>
);

const toTitle = (status: StatusRecord) =>
  [
    `prompt ${status.prompt_tokens.toLocaleString()}`,
    `answer ${status.completion_tokens.toLocaleString()}`,
    `from cache ${status.cache_read_tokens.toLocaleString()}`,
    `effort ${status.effort}`,
  ].join(', ');

function shorten(count: number): string {
  if (count < 1_000) return String(count);
  if (count < 100_000) return `${(count / 1_000).toFixed(1)}k`;
  return count < 1_000_000 ? `${Math.round(count / 1_000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
