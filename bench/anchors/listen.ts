import type { Server } from 'node:http';
import process from 'node:process';

/** Listens on PORT (0: any free port) and prints the port. */
export function listen(server: Server): void {
  server.listen(Number(process.env.PORT), '127.0.0.1', () => {
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    process.stdout.write(`listening ${port}\n`);
  });
}
