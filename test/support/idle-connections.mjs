// Opens the requested number of connections, sends a liveness request on each, and then stays idle until it is stopped: node
// idle-connections.mjs PORT COUNT. Prints "open" once all were answered, and exits with 1 if one is refused or closed.
import { connect } from 'node:net';

const [port, count] = process.argv.slice(2).map(Number);
const AT_ONCE = 200;
const fail = (error) => {
  process.stdout.write(`failed: ${error.message}\n`);
  process.exit(1);
};

const openOne = () =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'),
    );
    socket.once('data', () => resolve());
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('a connection was closed')));
  });

for (let opened = 0; opened < count; opened += AT_ONCE) {
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - opened) }, openOne));
}
process.stdout.write('open\n');
