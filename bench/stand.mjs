import { startFloor, startPeer, startService, startWall } from './servers.mjs';
import { makeSetting, SCOPES } from './setting.mjs';

/** A database with the data for the workloads, and the servers that are measured over it. */
export class Stand {
  /** `peers` are the programs in bench/peers that run beside. */
  constructor(database, peers = []) {
    this.database = database;
    this.peerNames = peers;
    this.peers = {};
  }

  async start() {
    this.setting = await makeSetting(this.database);
    await this.#startServers();
    await this.setting.sign(this.service);
  }

  /** Restarts all servers, so that they are as cold as those of another stand. */
  async restart() {
    await this.stop();
    await this.#startServers();
  }

  /** Runs `between` on the database while the service is stopped. */
  async restartService(between) {
    await this.service.stop();
    await between(this.database);
    this.service = await startService(this.database);
  }

  async #startServers() {
    this.floor = await startFloor(this.database);
    this.wall = await startWall(this.database);
    this.service = await startService(this.database);
    for (const name of this.peerNames)
      this.peers[name] = await startPeer(name, this.database, this.setting, SCOPES);
  }

  async stop() {
    const servers = [this.service, this.floor, this.wall, ...Object.values(this.peers)];
    const stopped = await Promise.allSettled(servers.map((server) => server?.stop()));
    const failed = stopped.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  }
}
