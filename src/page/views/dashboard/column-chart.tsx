import { toColumns } from '../../state/dashboard/board-figures.ts';

const WIDTH = 600;
const HEIGHT = 90;

interface ColumnChartProps {
  /** The name of the chart, such as `US$ per day`. */
  title: string;
  values: readonly number[];
  /** What a column says when it is pointed at. */
  words(index: number): string;
  /** The highest value, in words. */
  most: string;
  from: string;
  until: string;
}

/** Columns over time. It is only for the eye: a table next to it has the numbers. */
export function ColumnChart({ title, values, words, most, from, until }: ColumnChartProps) {
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="soft">{`at most ${most}`}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {toColumns(values, { width: WIDTH, height: HEIGHT }).map(({ x, width, height }, index) => (
          <rect key={index} x={x} y={HEIGHT - height} width={width} height={height}>
            <title>{words(index)}</title>
          </rect>
        ))}
      </svg>
      <div class="chart-axis soft" aria-hidden="true">
        <span>{from}</span>
        <span>{until}</span>
      </div>
    </figure>
  );
}
