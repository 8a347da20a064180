// Like bin/headgate.js, but from the sources. `npm run dev` runs it with tsx.
import process from 'node:process';
import { main } from '../src/cli/main.ts';

await main({ argv: process.argv.slice(2), root: new URL('../', import.meta.url) });
