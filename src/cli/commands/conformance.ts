import { CASES } from '../../conformance/cases/table.ts';
import { createLab, type Server } from '../../conformance/lab.ts';
import { type Finding, runCases } from '../../conformance/run-cases.ts';
import { openWire } from '../../conformance/wire.ts';
import { EXIT } from '../../exit-codes.ts';
import { toSocketUrl } from '../../node-host/socket-url.ts';
import { NoDaemonError } from '../../start-error.ts';
import { nobodyAnswers, notTaken } from '../connect.ts';
import { toSafeText } from '../terminal/safe-text.ts';

export interface ConformanceFlags {
  token?: string | undefined;
  json?: boolean | undefined;
}

const MARKS = { holds: '✔', fails: '✖', 'does not apply': '·' } as const;

/** Tests a server against the protocol and prints the results. Exit code 1 if any sentence fails. */
export async function conformance(address: string, { token, json }: ConformanceFlags): Promise<void> {
  const server = { url: toSocketUrl(address), token: token ?? (process.env.HEADGATE_TOKEN || undefined) };
  await knock(server, token === undefined ? 'HEADGATE_TOKEN' : '--token');
  const onFinding = (finding: Finding) => void (json || process.stdout.write(toLines(finding)));
  const stopping = stopOnSignals();
  const findings = await runCases(CASES, { server, stopping, onFinding });
  const counts = { holds: 0, fails: 0, 'does not apply': 0 };
  for (const { outcome } of findings) counts[outcome] += 1;
  const summary = `${counts.holds} hold, ${counts.fails} fail, ${counts['does not apply']} do not apply`;
  process.stdout.write(json ? `${JSON.stringify({ url: server.url, counts, findings }, null, 2)}\n` : `\n${summary}\n`);
  process.exitCode = counts.fails > 0 ? EXIT.failed : EXIT.ok;
  if (!stopping.aborted) return;
  process.stderr.write(`headgate: interrupted after ${findings.length} of ${CASES.length} sentences\n`);
  process.exitCode = EXIT.interrupted;
}

/** Within this time it is the same signal: npm passes on what the terminal has sent to the whole process group. */
const SAME_SIGNAL_MS = 1_000;

/** The first signal stops the cases, which then clean up; a later one ends the process at once. */
function stopOnSignals(): AbortSignal {
  const stopping = new AbortController();
  let firstMs = Number.POSITIVE_INFINITY;
  const onSignal = () => {
    if (performance.now() - firstMs >= SAME_SIGNAL_MS) process.exit(EXIT.interrupted);
    firstMs = Math.min(firstMs, performance.now());
    stopping.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  return stopping.signal;
}

/** Rejects if no case could run: the server does not answer, or refuses the token. */
async function knock(server: Server, tokenFrom: string): Promise<void> {
  const wire = await openWire(server.url).catch((cause: unknown) => {
    throw new NoDaemonError(nobodyAnswers(server.url), { cause });
  });
  try {
    const answer = await wire.request('connect', createLab(server).connectParams()).catch(() => undefined); // a case will report it
    if (answer?.error?.code === 'UNAUTHORIZED') throw notTaken({ ...server, tokenFrom });
  } finally {
    wire.close();
  }
}

function toLines({ must, outcome, reason }: Finding): string {
  const why = reason === undefined ? '' : `    ${outcome}: ${toSafeText(reason).replaceAll('\n', ' ')}\n`;
  return `${MARKS[outcome]} ${must}\n${why}`;
}
