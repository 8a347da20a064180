// Loaded into a daemon of the drill before everything else: its clock is wrong by the milliseconds in a file, and jumps
// when the file changes. Only the time of day is wrong, as on a machine that has lost its time server: timers are right.
import { readFileSync, watchFile } from 'node:fs';
import process from 'node:process';

const LOOK_MS = 50;
const file = process.env.WRONG_CLOCK ?? '';
const right = Date.now;
let wrongMs = 0;
const look = () => {
  wrongMs = Number(readFileSync(file, 'utf8'));
};
look();
watchFile(file, { interval: LOOK_MS, persistent: false }, look);

Date.now = () => right() + wrongMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget),
});
