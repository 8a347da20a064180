import type { Row } from './row.ts';
import { loginStormRow, pausesRow } from './rows/accounts.ts';
import { appendChecksumRow, appendRow, writtenRows } from './rows/appends.ts';
import { attacksRow } from './rows/attacks.ts';
import { chatRows } from './rows/chats.ts';
import { connectionRows } from './rows/connections.ts';
import { cronRows } from './rows/cron.ts';
import { diffRow } from './rows/diffs.ts';
import { fanOutRows } from './rows/fan-out.ts';
import { floodRow } from './rows/flood.ts';
import { handshakeRow } from './rows/handshakes.ts';
import { pageRows } from './rows/page.ts';
import { postgresRows } from './rows/postgres.ts';
import { postRow, sendRow } from './rows/posts.ts';
import { relayRows } from './rows/relay.ts';
import { requestRows } from './rows/requests.ts';
import { snapshotRow } from './rows/snapshots.ts';
import { stalledRow } from './rows/stalled.ts';
import { drainRow, forwardedRow } from './rows/standbys.ts';
import { startRows } from './rows/starts.ts';
import { terminalRows } from './rows/terminals.ts';
import { turnRows } from './rows/turns.ts';
import { workersRow } from './rows/workers.ts';

/** All rows, in the order of the table. */
export const ROWS: readonly Row[] = [
  ...requestRows,
  floodRow,
  handshakeRow,
  ...connectionRows,
  ...fanOutRows,
  stalledRow,
  postRow,
  sendRow,
  ...relayRows,
  ...turnRows,
  attacksRow,
  ...startRows,
  ...cronRows,
  ...chatRows,
  pausesRow,
  loginStormRow,
  appendRow,
  appendChecksumRow,
  ...writtenRows,
  ...postgresRows,
  forwardedRow,
  drainRow,
  workersRow,
  snapshotRow,
  diffRow,
  ...pageRows,
  ...terminalRows,
];
