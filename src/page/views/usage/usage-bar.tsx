import type { Bar } from '../../state/usage/usage-report.ts';

const WIDTH = 200;
const HEIGHT = 12;

/** The parts of one bar next to each other. The table has the numbers, so the drawing is only for the eye. */
export function UsageBar({ parts, longest }: { parts: Bar['parts']; longest: number }) {
  let x = 0;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" class="usage-bar">
      {parts.map(({ kind, amount }) => {
        const width = (amount / longest) * WIDTH;
        const from = x;
        x += width;
        return <rect key={kind} class={`use-${kind}`} x={from} y="0" width={width} height={HEIGHT} />;
      })}
    </svg>
  );
}
