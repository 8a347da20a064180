import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SandboxedCommands } from './sandboxed-commands.ts';
import { createHolderSearch } from './socket-holders.ts';
import { findTcpRows, type TcpRow, toEndpoint } from './tcp-table.ts';

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** Whether a connection comes from a sandboxed command; undefined at once where that is impossible. */
export type IsSandboxedPeer = (connection: Peer) => Promise<boolean> | undefined;

interface PeerDeps {
  commands: Pick<SandboxedCommands, 'leaders' | 'areNear'>;
  /** The user of the daemon; commands run as the same user. */
  uid: number;
}

/**
 * The sandbox shares the network of the machine, so a command could connect to the daemon's port. The kernel's table
 * has the peer's end of each local connection. It counts as a command's unless another process holds it (decision 15).
 */
export function createSandboxedPeers({ commands, uid }: PeerDeps): IsSandboxedPeer {
  const isHeldOutside = createHolderSearch({ leaders: commands.leaders, uid });

  async function isCommands(peer: string, daemon: string): Promise<boolean> {
    const port = Number(peer.split(' ')[1]);
    const find = async () => toPeerRows(await findTcpRows(port), { peer, daemon });
    const rows = await find();
    if (rows.length === 0) return !(await isFromElsewhere(find, { peer, daemon }));
    if (rows.some(({ inode }) => inode === 0)) return true; // it closed its end without waiting for an answer
    for (const row of rows) {
      if (row.uid === uid && !(await isHeldOutside(row.inode))) return true;
    }
    // The process that held it may have been ended meanwhile: a command being killed has no parent for a moment.
    const after = await find();
    return rows.some(({ inode }) => !after.some((row) => row.inode === inode));
  }

  return (connection) => {
    if (!commands.areNear()) return undefined;
    const { remoteAddress, remotePort, localAddress, localPort } = connection;
    // The connection is already closed, but the data sent could still be read.
    if (!remoteAddress || !remotePort || !localAddress || !localPort) return Promise.resolve(true);
    const [peer, daemon] = [toEndpoint(remoteAddress, remotePort), toEndpoint(localAddress, localPort)];
    if (!isOfThisMachine(peer, daemon)) return undefined;
    return isCommands(peer, daemon).catch(() => true); // if in doubt, refuse
  };
}

interface Ends {
  peer: string;
  daemon: string;
}

/**
 * The peer's end of the connection. If a firewall rule has changed the destination address, only the peer's address
 * matches.
 */
function toPeerRows(rows: readonly TcpRow[], { peer, daemon }: Ends): TcpRow[] {
  const ends = rows.filter(({ local }) => local === peer);
  const exact = ends.filter(({ remote }) => remote === daemon);
  return exact.length > 0 ? exact : ends;
}

/**
 * Some systems (WSL) forward outside connections from a local address: they are open and have no other end in this
 * table.
 */
async function isFromElsewhere(find: () => Promise<TcpRow[]>, { peer, daemon }: Ends): Promise<boolean> {
  if ((await find()).length > 0) return false;
  const own = await findTcpRows(Number(daemon.split(' ')[1]));
  return own.some(({ local, remote, isEstablished }) => local === daemon && remote === peer && isEstablished);
}

function isOfThisMachine(peer: string, daemon: string): boolean {
  const [address = ''] = peer.split(' ');
  if (address.startsWith('127.') || address === '::1' || address === daemon.split(' ')[0]) return true;
  const own = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return own.some((entry) => toEndpoint(entry.address, 0) === `${address} 0`);
}
