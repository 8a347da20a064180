import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { SandboxedCommands } from './sandboxed-commands.ts';
import { createHolderSearch } from './socket-holders.ts';
import { findTcpRows, type TcpRow, toEndpoint } from './tcp-table.ts';

type Peer = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/** Whether a connection comes from a sandboxed command; undefined at once where that cannot be. */
export type IsSandboxedPeer = (connection: Peer) => Promise<boolean> | undefined;

interface PeerDeps {
  commands: Pick<SandboxedCommands, 'leaders' | 'areNear'>;
  /** The daemon's own; commands run as the same user. */
  uid: number;
}

/**
 * The network of the sandbox is the machine's, so a command could reach the daemon's own port. The peer's end of a
 * connection on this machine is in the kernel's table; it counts as a command's unless another process has it (decision 15).
 */
export function createSandboxedPeers({ commands, uid }: PeerDeps): IsSandboxedPeer {
  const isHeldOutside = createHolderSearch({ leaders: commands.leaders, uid });

  async function isCommands(peer: string, daemon: string): Promise<boolean> {
    const port = Number(peer.split(' ')[1]);
    const find = async () => toPeerRows(await findTcpRows(port), { peer, daemon });
    const rows = await find();
    if (rows.length === 0) return !(await isFromElsewhere(find, { peer, daemon }));
    if (rows.some(({ inode }) => inode === 0)) return true; // it did not wait for an answer
    for (const row of rows) {
      if (row.uid === uid && !(await isHeldOutside(row.inode))) return true;
    }
    // Whoever had it may have been ended meanwhile: a command that is being killed is nobody's child for a moment.
    const after = await find();
    return rows.some(({ inode }) => !after.some((row) => row.inode === inode));
  }

  return (connection) => {
    if (!commands.areNear()) return undefined;
    const { remoteAddress, remotePort, localAddress, localPort } = connection;
    // It is closed already, and what was sent could still be read.
    if (!remoteAddress || !remotePort || !localAddress || !localPort) return Promise.resolve(true);
    const [peer, daemon] = [toEndpoint(remoteAddress, remotePort), toEndpoint(localAddress, localPort)];
    if (!isOfThisMachine(peer, daemon)) return undefined;
    return isCommands(peer, daemon).catch(() => true); // what cannot be known is refused
  };
}

interface Ends {
  peer: string;
  daemon: string;
}

/** The peer's own end. Where a rule of the firewall has changed the address that it connected to, only its own part fits. */
function toPeerRows(rows: readonly TcpRow[], { peer, daemon }: Ends): TcpRow[] {
  const ends = rows.filter(({ local }) => local === peer);
  const exact = ends.filter(({ remote }) => remote === daemon);
  return exact.length > 0 ? exact : ends;
}

/** Some systems (WSL) bring in connections from outside under a local address: they are open and have no other end here. */
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
