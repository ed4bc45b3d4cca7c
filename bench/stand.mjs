import { startFloor, startService, startWall } from './servers.mjs';
import { makeSetting } from './setting.mjs';

/** A database with the data for the workloads, and the servers that are measured over it. */
export class Stand {
  constructor(database) {
    this.database = database;
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
  }

  async stop() {
    const stopped = await Promise.allSettled([this.service?.stop(), this.floor?.stop(), this.wall?.stop()]);
    const failed = stopped.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  }
}
