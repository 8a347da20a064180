import { argon2Sync } from 'node:crypto';
import { setPriority } from 'node:os';
import process from 'node:process';
import { parentPort } from 'node:worker_threads';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { HashJob, HashReply } from './password-threads.ts';

const NICENESS = 10;

// A hash occupies a whole core, so it takes what others leave over: with few cores, many logins at once would otherwise hold up
// everybody else. On Linux this is the priority of the calling thread; elsewhere it would be that of the daemon.
if (process.platform === 'linux') setPriority(0, NICENESS);

parentPort?.on('message', (job: HashJob) => parentPort?.postMessage(reply(job)));

function reply(job: HashJob): HashReply {
  try {
    return { hash: argon2Sync('argon2id', job) };
  } catch (error) {
    return { error: wordsOf(error) };
  }
}
