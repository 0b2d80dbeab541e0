//! moto, where it was installed: S3 and SQS in one server, whose buckets tell queues of what comes into them.
//! It keeps nothing over a kill and takes any key.

use crate::lab::Lab;
use crate::penstock::root;
use crate::ports::free_port;
use crate::process::Process;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

/// Why there is none; the test is skipped with it.
pub const MISSING: &str = "no SQS server, see `./x servers sqs`";

pub struct Sqs {
    dir: PathBuf,
    port: u16,
    _process: Process,
}

fn installed() -> PathBuf {
    root().join("target/servers/sqs")
}

/// In front of each script: clients, and the address of the queue.
const HEAD: &str = "import boto3, sys, json, base64\n\
    kind = dict(endpoint_url='http://127.0.0.1:%port%', region_name='us-east-1', aws_access_key_id='access', aws_secret_access_key='secret')\n\
    s3, sqs = boto3.client('s3', **kind), boto3.client('sqs', **kind)\n\
    url = 'http://127.0.0.1:%port%/123456789012/told'\n";

impl Sqs {
    /// Starts a server with a bucket, `logs`, that tells a queue of each object.
    #[track_caller]
    pub fn start(lab: &Lab) -> Option<Sqs> {
        installed().join("complete").exists().then_some(())?;
        let dir = lab.path("sqs");
        std::fs::create_dir_all(&dir).expect("a folder");
        let port = free_port();
        let mut command = Command::new(installed().join("python/bin/moto_server"));
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let mut process = Process::spawn("moto", command, None, &dir.join("log"));
        process.wait_for(|| {
            TcpStream::connect(("127.0.0.1", port)).err().map(|error| format!("moto to listen: {error}"))
        });
        let server = Sqs { dir, port, _process: process };
        server.python(
            "s3.create_bucket(Bucket='logs')\n\
             sqs.create_queue(QueueName='told')\n\
             arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=['QueueArn'])['Attributes']['QueueArn']\n\
             s3.put_bucket_notification_configuration(Bucket='logs', NotificationConfiguration={'QueueConfigurations': \
             [{'QueueArn': arn, 'Events': ['s3:ObjectCreated:*', 's3:ObjectRemoved:*']}]})\n",
        );
        Some(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The queue as configurations name it.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/123456789012/told", self.port)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    #[track_caller]
    fn python(&self, script: &str) -> String {
        let script = HEAD.replace("%port%", &self.port.to_string()) + script;
        let output = Command::new(installed().join("python/bin/python")).arg("-c").arg(script).output();
        let output = output.expect("python");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[track_caller]
    pub fn put(&self, objects: &[(&str, &[u8])]) {
        self.python(&crate::s3::putting(&self.dir, objects));
    }

    /// As [`crate::s3::S3::put_many`].
    #[track_caller]
    pub fn put_many(&self, pattern: &str, count: usize, lines: usize) {
        self.python(&format!(
            "for n in range({count}):\n    \
             body = ''.join('value %d\\n' % v for v in range(n * {lines}, (n + 1) * {lines}))\n    \
             s3.put_object(Bucket='logs', Key='{pattern}' % n, Body=body.encode())\n"
        ));
    }

    /// Deletes an object, of which the queue is told too.
    #[track_caller]
    pub fn delete(&self, name: &str) {
        self.python(&format!("s3.delete_object(Bucket='logs', Key={name:?})"));
    }

    /// Puts a message into the queue.
    #[track_caller]
    pub fn send(&self, body: &str) {
        let file = self.file("message");
        std::fs::write(&file, body).expect("written");
        self.python(&format!("sqs.send_message(QueueUrl=url, MessageBody=open({file:?}).read())"));
    }

    /// Messages in the queue: that anybody may have, and that somebody has.
    #[track_caller]
    pub fn counts(&self) -> (usize, usize) {
        let names = "['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible']";
        let said = self.python(&format!(
            "a = sqs.get_queue_attributes(QueueUrl=url, AttributeNames={names})['Attributes']\n\
             print(*[a[name] for name in {names}])"
        ));
        let mut numbers = said.split_whitespace().map(|number| number.parse().expect("a number"));
        (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default())
    }
}
