#!/usr/bin/env node
// Plain JavaScript without imports, so that an old Node can print the message below. Importing `process` would also create
// all its streams, which takes 4 ms.

const OLDEST_NODE = 24;

if (Number.parseInt(process.versions.node, 10) < OLDEST_NODE) {
  const needed = `requires Node.js ${OLDEST_NODE} or newer; this is ${process.versions.node}`;
  process.stderr.write(`headgate: ${needed}. In a clone, run npx headgate, which uses the right version.\n`);
  process.exit(1);
}

const root = new URL('../', import.meta.url);
const { main } = await import(new URL('dist/main.js', root).href).catch((error) => {
  const unbuilt = error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes('dist/main.js');
  if (!unbuilt) throw error;
  process.stderr.write('headgate: not built yet. Run: npm run build\n');
  process.exit(1);
});
await main({ argv: process.argv.slice(2), root });
