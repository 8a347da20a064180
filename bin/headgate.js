#!/usr/bin/env node
// Plain JavaScript with no static imports beyond what every Node has: an old Node must get as far as the message below.
import process from 'node:process';

const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  const needed = `needs Node.js ${OLDEST_NODE} or newer, and this is ${process.versions.node}`;
  process.stderr.write(`headgate: ${needed}; in a clone, npx headgate has the right one\n`);
  process.exit(1);
}

const root = new URL('../', import.meta.url);
const { main } = await import(new URL('dist/main.js', root).href).catch((error) => {
  const unbuilt = error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes('dist/main.js');
  if (!unbuilt) throw error;
  process.stderr.write('headgate: not built yet; run: npm run build\n');
  process.exit(1);
});
await main({ argv: process.argv.slice(2), root });
