import { main } from '../../../src/cli/main.ts';

// Like bin/headgate.js, but without the bundle. The workers and the page are still those of dist/.
await main({ argv: process.argv.slice(2), root: new URL('../../../', import.meta.url) });
