/** A straight line through points, by least squares. */
export interface Trend {
  first: number;
  last: number;
  /** Change of the line per unit of x. */
  slope: number;
  /** Standard error of the slope; infinite with fewer than three points. */
  error: number;
}

export function trendOf(points: readonly { x: number; y: number }[]): Trend {
  const count = points.length;
  const meanX = sum(points.map(({ x }) => x)) / count;
  const meanY = sum(points.map(({ y }) => y)) / count;
  const spread = sum(points.map(({ x }) => (x - meanX) ** 2));
  const slope = spread === 0 ? 0 : sum(points.map(({ x, y }) => (x - meanX) * (y - meanY))) / spread;
  const residual = sum(points.map(({ x, y }) => (y - meanY - slope * (x - meanX)) ** 2));
  return {
    first: points[0]?.y ?? Number.NaN,
    last: points.at(-1)?.y ?? Number.NaN,
    slope,
    error: count < 3 || spread === 0 ? Number.POSITIVE_INFINITY : Math.sqrt(residual / (count - 2) / spread),
  };
}

/**
 * `grows`: certainly faster than the bound (by two standard errors). `flat`: certainly slower. `unclear`: the run was
 * too short, or the values too noisy.
 */
export function judge({ slope, error }: Trend, maxSlope: number): 'flat' | 'grows' | 'unclear' {
  if (slope - 2 * error > maxSlope) return 'grows';
  return slope + 2 * error <= maxSlope ? 'flat' : 'unclear';
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
