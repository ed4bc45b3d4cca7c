/**
 * What the framework alone costs: the floor, the service, the frame and the wall in turns. After `npm run build`:
 *
 *   node bench/frame.mjs [--only W1,W2,W2b,W2c] [--rounds 10]
 */
import { parseArgs } from 'node:util';
import { startFloor, startFrame, startService, startWall } from './servers.mjs';
import { takeTurns } from './take-turns.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string', default: 'W1,W2,W2b,W2c' }, rounds: { type: 'string', default: '10' } },
});
// Each server has a listener that ends it.
process.setMaxListeners(0);
await takeTurns({
  starts: { service: startService, floor: startFloor, frame: startFrame, wall: startWall },
  // Which tokens each of them knows.
  sides: { service: 'ours', floor: 'floor', frame: 'wall', wall: 'wall' },
  ...values,
});
