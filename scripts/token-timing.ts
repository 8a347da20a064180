import { tokenMatcher } from '../src/gateway/auth/token-matcher.ts';

// node scripts/token-timing.ts: tests whether the time of a comparison shows how much of a guessed token is right. It
// alternates guesses that are wrong in their first and in their last character and computes Welch's t: |t| under 4.5 shows
// no difference. A comparison that stops at the first difference proves that the measurement is sensitive enough.

const SAMPLES = 40_000;
const PER_SAMPLE = 100;
const LIMIT = 4.5;

const token = `svc_${'5a'.repeat(32)}`;
const early = `0${token.slice(1)}`;
const late = `${token.slice(0, -1)}0`;

function timeOf(fits: (guess: string) => boolean, guess: string): number {
  const begun = process.hrtime.bigint();
  for (let n = 0; n < PER_SAMPLE; n += 1) fits(guess);
  return Number(process.hrtime.bigint() - begun) / PER_SAMPLE;
}

function tBetween(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [momentsOf(a), momentsOf(b)];
  return (x.mean - y.mean) / Math.sqrt(x.variance / a.length + y.variance / b.length);
}

function momentsOf(times: readonly number[]) {
  // Without the slowest tenth, which other load on the machine causes.
  const kept = [...times].sort((a, b) => a - b).slice(0, Math.floor(times.length * 0.9));
  const mean = kept.reduce((sum, time) => sum + time, 0) / kept.length;
  return { mean, variance: kept.reduce((sum, time) => sum + (time - mean) ** 2, 0) / kept.length };
}

function measure(name: string, fits: (guess: string) => boolean): number {
  const times = { early: [] as number[], late: [] as number[] };
  for (let n = 0; n < SAMPLES; n += 1) {
    const isEarlyFirst = Math.random() < 0.5;
    for (const which of isEarlyFirst ? (['early', 'late'] as const) : (['late', 'early'] as const))
      times[which].push(timeOf(fits, which === 'early' ? early : late));
  }
  const t = tBetween(times.early, times.late);
  const [first, last] = [momentsOf(times.early).mean, momentsOf(times.late).mean];
  process.stdout.write(
    `${name}: ${first.toFixed(2)} ns wrong at once, ${last.toFixed(2)} ns wrong at the end, t ${t.toFixed(1)}\n`,
  );
  return t;
}

measure('stops at the first difference', (guess) => [...token].every((char, at) => char === guess[at]));
const t = measure('ours', tokenMatcher(token));
process.exitCode = Math.abs(t) < LIMIT ? 0 : 1;
