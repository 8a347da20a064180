import { main } from '../../../src/cli/main.ts';

// What bin/headgate.js does, without the bundle: the workers and the page are still those of dist/.
await main({ argv: process.argv.slice(2), root: new URL('../../../', import.meta.url) });
