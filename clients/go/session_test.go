// Redouble without a client library: plain sockets. Run with: go test session_test.go
package session

// [readme: go]
import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A shell starts the server and stops it when the pipe closes, however this process ends.
const watched = `exec 3<&0; "$@" </dev/null 3<&- & read -r _ <&3; kill -KILL $!`

type redis struct {
	net.Conn
	replies *bufio.Reader
}

func startRedouble(t *testing.T) *redis {
	program := os.Getenv("REDOUBLE_BIN")
	if program == "" {
		program = "redouble"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	listener.Close()
	command := exec.Command("/bin/sh", "-c", watched, "sh", program, "serve", "--clock", "manual", "--port", port)
	pipe, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		pipe.Close()
		command.Wait()
	})
	for attempt := 0; attempt < 500; attempt++ {
		if connection, err := net.Dial("tcp", address); err == nil {
			return &redis{connection, bufio.NewReader(connection)}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s serve does not start", program)
	return nil
}

// Sends an inline command and returns the reply, for replies of one line and bulk strings.
func (r *redis) ask(t *testing.T, format string, arguments ...any) string {
	fmt.Fprintf(r, format+"\r\n", arguments...)
	line, err := r.replies.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	line = strings.TrimSuffix(line, "\r\n")
	size, err := strconv.Atoi(line[1:])
	if line[0] != '$' || err != nil || size < 0 {
		return line
	}
	bytes := make([]byte, size+2)
	if _, err := io.ReadFull(r.replies, bytes); err != nil {
		t.Fatal(err)
	}
	return string(bytes[:size])
}

func TestASessionExpires(t *testing.T) {
	redis := startRedouble(t)
	redis.ask(t, "SET session alice PX 1500")
	redis.ask(t, "SIM CLOCK ADVANCE 1500ms")
	if got := redis.ask(t, "GET session"); got != "alice" {
		t.Errorf("gone too early: %s", got)
	}
	redis.ask(t, "SIM CLOCK ADVANCE 1ms")
	if got := redis.ask(t, "GET session"); got != "$-1" {
		t.Errorf("still there: %s", got)
	}
}

// [end]
